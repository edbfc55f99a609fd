#include "attn/io/tensors/safetensors.hpp"

#include "oracle/tensor_file_bytes.hpp"

namespace {

using attn::ElementType;
using attn::Shape;
using oracle::elements;
using oracle::expect_refused;
using oracle::number;
using oracle::read;
using oracle::safetensors;
using oracle::values;

using Values = std::vector<double>;

const std::string four = elements<float>({1, 2, 3, 4});

/// {"a": {…}} of the given members.
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets, std::string_view data)
{
    return safetensors("{\"a\":{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":" + std::string(shape) +
                           ",\"data_offsets\":" + std::string(offsets) + "}}",
                       data);
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirOffsets)
{
    const std::string file = safetensors(R"({"b": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]},)"
                                         R"( "__metadata__": {"format": "pt", "": ""},)"
                                         R"( "a": {"data_offsets": [0, 8], "shape": [1, 2], "dtype": "F32"}}   )",
                                         four);
    const auto tensors = read(file);
    ASSERT_EQ(tensors.entries.size(), 2);
    EXPECT_EQ(tensors.entries[0].name, "a");
    EXPECT_EQ(tensors.entries[0].view.shape, (Shape{1, 2}));
    EXPECT_EQ(values(tensors, "a"), (Values{1, 2}));
    EXPECT_EQ(values(tensors, "b"), (Values{3, 4}));
    EXPECT_EQ(static_cast<const void*>(tensors.entries[0].view.bytes.data()), file.data() + file.size() - 16);
    EXPECT_EQ(read(file, "b").entries.size(), 1);
}

TEST(Safetensors, ReadsEveryElementType)
{
    const auto first = [](std::string_view dtype, const std::string& data) {
        const std::string file = one(dtype, "[1]", "[0," + std::to_string(data.size()) + "]", data);
        const auto tensors = read(file);
        return std::pair(tensors.at("a", "").view.type, values(tensors, "a").at(0));
    };
    EXPECT_EQ(first("F16", elements<std::uint16_t>({0x3e00})), std::pair(ElementType::float16, 1.5));
    EXPECT_EQ(first("BF16", elements<std::uint16_t>({0x3fc0})), std::pair(ElementType::bfloat16, 1.5));
    EXPECT_EQ(first("F32", elements<float>({1.5F})), std::pair(ElementType::float32, 1.5));
    EXPECT_EQ(first("F64", elements<double>({1.5})), std::pair(ElementType::float64, 1.5));
    EXPECT_EQ(first("BOOL", "\1"), std::pair(ElementType::boolean, 1.0));
    EXPECT_EQ(first("I64", elements<std::int64_t>({-5})), std::pair(ElementType::int64, -5.0));
}

TEST(Safetensors, ReadsRankZeroNoElementsAndNoTensors)
{
    EXPECT_EQ(values(read(one("F32", "[]", "[0,4]", elements<float>({7}))), "a"), Values{7});
    EXPECT_TRUE(values(read(one("F32", "[0, 3]", "[0,0]", "")), "a").empty());
    EXPECT_TRUE(read(safetensors("{}")).entries.empty());
    const auto between = read(safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                          R"("c":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                                          R"("none":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}})",
                                          four));
    EXPECT_EQ(between.entries.size(), 3);
    EXPECT_EQ(between.entries[1].name, "none");
}

TEST(Safetensors, LoadsACheckpointWithTypesThatItDoesNotReadUntilOneIsWanted)
{
    const std::string file = safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                         R"("steps":{"dtype":"U32","shape":[2],"data_offsets":[8,16]}})",
                                         four);
    const auto tensors = read(file);
    EXPECT_EQ(values(tensors, "a"), (Values{1, 2}));
    ASSERT_EQ(tensors.unsupported.size(), 1);
    EXPECT_EQ(tensors.unsupported[0].name, "steps");
    EXPECT_EQ(tensors.unsupported[0].type, "U32");
    expect_refused(file, "'steps' in q.file: element type: got 'U32'; allowed: float16, bfloat16", "steps");
    expect_refused(file, "got no tensor 'b'; allowed: 'a'", "b");
}

TEST(Safetensors, RefusesUnknownTypesWhoseSizeNobodyCanCheck)
{
    expect_refused(one("F128", "[1]", "[0,16]", four), "q.file: header.a.dtype: got 'F128'");
    expect_refused(one("f32", "[1]", "[0,4]", "1234"), "dtype: got 'f32'");
    expect_refused(one("U32", "[3]", "[0,16]", four), "16 bytes; allowed: 12 for its shape of U32");
    expect_refused(one("F4", "[3]", "[0,2]", "12"), "2 bytes"); // a byte and a half
    EXPECT_EQ(read(one("F4", "[4]", "[0,2]", "12")).unsupported.size(), 1);
}

TEST(Safetensors, RefusesHeaderLengthsPastTheEndOrTheLimit)
{
    expect_refused(number(100, 8) + "{}", "length of the header: got 100; allowed: up to 2, the rest of the file");
    expect_refused(number(~std::uint64_t{0}, 8) + "{}", "got 18446744073709551615");
    expect_refused(number(100'000'001, 8) + "{" + std::string(100'000'001, ' '), "up to 100000000");
    expect_refused(number(0, 8) + "{}", "first byte of the header");
}

TEST(Safetensors, RefusesHeadersThatAreNoSuchObject)
{
    for (const std::string_view json : {
             "{",
             "{}}",
             "{\"a\":1}",
             "{\"a\":null}",
             "{\"a\":[]}",
             "{\"a\":{}}",
             "{\"__metadata__\":1}",
             "{\"__metadata__\":{\"a\":1}}",
             "{\"__metadata__\":{\"a\":{}}}",
             R"({"a":{"dtype":"F32","shape":[1]}})",
             R"({"a":{"dtype":"F32","data_offsets":[0,4]}})",
             R"({"a":{"shape":[1],"data_offsets":[0,4]}})",
             R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":0}})",
             R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
             R"({"a":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})",
             R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})",
             R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})",
             R"({"a":{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}})",
             R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
             R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})",
             R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})",
             R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,1e9]}})",
             R"({"a":{"dtype":"F32","shape":[1],"data_offsets":{}}})",
             "{\"\xff\":{}}",
         }) {
        expect_refused(safetensors(json, "1234"), "q.file: header");
    }
    expect_refused(safetensors("{\"a\":nul}"), "q.file: header: malformed JSON at line 1, column 9");
}

TEST(Safetensors, RefusesTokensThatDoNotEnd)
{
    expect_refused(safetensors("{\"a\\\""), "malformed JSON at line 1, column 6: invalid string: missing closing quote");
    expect_refused(safetensors("{\"a\\"), "malformed JSON");
    expect_refused(safetensors("{\"a\": " + std::string(1001, '1') + "}"),
                   "malformed JSON at line 1, column 1007: a number beyond the range of float64");
    expect_refused(safetensors("{\"a\": " + std::string(300, '1') + "}"), "header.a: got ");
    EXPECT_TRUE(read(safetensors("{\"__metadata__\":{\"long\":\"" + std::string(5000, 'x') + "\"}}")).entries.empty());
}

TEST(Safetensors, RefusesKeysTwice)
{
    const std::string tensor = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
    expect_refused(safetensors("{\"a\":" + tensor + ",\"a\":" + tensor + "}", "1234"), "key 'a' given twice");
    expect_refused(safetensors("{\"a\":" + tensor + ",\"\\u0061\":" + tensor + "}", "1234"), "key 'a' given twice");
    expect_refused(safetensors(R"({"__metadata__":{},"__metadata__":{}})"), "given twice");
}

TEST(Safetensors, RefusesOverlapsGapsAndWrongEnds)
{
    const auto pair = [](std::string_view first, std::string_view second) {
        return safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + std::string(first) +
                               R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + std::string(second) + "}}",
                           four);
    };
    EXPECT_EQ(read(pair("[0,8]", "[8,16]")).entries.size(), 2);
    EXPECT_EQ(read(pair("[8,16]", "[0,8]")).entries.size(), 2);
    expect_refused(pair("[0,8]", "[0,8]"), "offset of 'b': got 0; allowed: 8, where the one before ends");
    expect_refused(pair("[0,8]", "[4,12]"), "offset of 'b': got 4");
    expect_refused(pair("[0,8]", "[9,17]"), "offset of 'b': got 9");
    expect_refused(pair("[4,12]", "[12,20]"), "offset of 'a': got 4; allowed: 0");
    expect_refused(pair("[8,0]", "[8,16]"), "data_offsets[1]: got 0");
    expect_refused(one("F32", "[3]", "[0,12]", four),
                   "bytes of the tensors by its header: got 12; allowed: 16, the rest of the file");
    expect_refused(one("F32", "[5]", "[0,20]", four), "bytes of the tensors by its header: got 20; allowed: 16");
    expect_refused(safetensors("{}", "x"),
                   "bytes of the tensors by its header: got 0; allowed: 1"); // another file behind the header
}

TEST(Safetensors, RefusesShapesThatDoNotFitTheirBytes)
{
    expect_refused(one("F32", "[5]", "[0,16]", four), "q.file: header.a: data: got 16 bytes; allowed: 20");
    expect_refused(one("F32", "[4294967296,4294967296,4]", "[0,16]", four), "bytes can be addressed");
    expect_refused(one("F32", "[4611686018427387904]", "[0,0]", ""), "bytes can be addressed");
    expect_refused(one("F32", "[0,9223372036854775807,2]", "[0,0]", ""), "bytes can be addressed");
    expect_refused(one("F32", "[18446744073709551616]", "[0,0]", ""), "shape[0]");
    std::string ones = "[1";
    for (int i = 1; i < 65; ++i) {
        ones += ",1";
    }
    expect_refused(one("F32", ones + "]", "[0,4]", "1234"), "up to 64 dimensions");
}

TEST(Safetensors, RefusesDeepJson)
{
    expect_refused(safetensors("{\"a\":" + std::string(100000, '[')), "header.a: got an array; allowed: an object");
    std::string objects;
    for (int i = 0; i < 100000; ++i) {
        objects += "{\"a\":";
    }
    expect_refused(safetensors(objects), "header.a: key: got 'a'; allowed: dtype, shape, data_offsets");
}

TEST(Safetensors, RefusesEveryOtherLengthAndSurvivesEveryChangedBit)
{
    const std::string file = safetensors(R"({"__metadata__":{"k":"v"},"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]},)"
                                         R"("b":{"dtype":"F16","shape":[1,1],"data_offsets":[2,4]}})",
                                         std::string("\0\1\0\0", 4));
    oracle::expect_every_length_but_its_own_refused(file);
    oracle::expect_every_changed_bit_read_or_refused(file);
}

TEST(Safetensors, WritesAsTheReferenceImplementationDoes)
{
    const std::string flags("\1\0\1", 3), halves(2, '\0'), doubles = elements<double>({0.5});
    attn::Buffer file;
    attn::io::write_safetensors({{"b", attn::row_major_view(ElementType::float32, {2, 2}, oracle::bytes_of(four))},
                                 {"a", attn::row_major_view(ElementType::boolean, {3}, oracle::bytes_of(flags))},
                                 {"\"é\\", attn::row_major_view(ElementType::float64, {}, oracle::bytes_of(doubles))},
                                 {"c", attn::row_major_view(ElementType::bfloat16, {1}, oracle::bytes_of(halves))}},
                                file);
    std::string json = R"({"\"é\\":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]},)"
                       R"("c":{"dtype":"BF16","shape":[1],"data_offsets":[24,26]},)"
                       R"("a":{"dtype":"BOOL","shape":[3],"data_offsets":[26,29]}})";
    json.append((8 - json.size() % 8) % 8, ' ');
    EXPECT_EQ(file.text(), safetensors(json, doubles + four + halves + flags));
    const auto tensors = read(file.text());
    EXPECT_EQ(values(tensors, "\"é\\"), Values{0.5});
    EXPECT_EQ(values(tensors, "a"), (Values{1, 0, 1}));
    attn::Buffer described;
    attn::io::write_safetensors({}, described, {{"format", "pt"}, {"b", "\"é\n"}});
    EXPECT_EQ(described.text(), safetensors(R"({"__metadata__":{"format":"pt","b":"\"é\n"}}   )"));
    EXPECT_TRUE(read(described.text()).entries.empty());
    attn::Buffer empty;
    attn::io::write_safetensors({}, empty);
    EXPECT_EQ(empty.text(), safetensors("{}      "));
}

} // namespace
