#include "attn/io/tensors/raw.hpp"

#include "oracle/tensor_file_bytes.hpp"

namespace {

using attn::ElementType;
using attn::NamedTensor;
using attn::Shape;
using oracle::elements;

using Values = std::vector<double>;

const std::vector<float> raw_floats{1.5F, -2};
const std::vector<double> raw_doubles{1, 2, 3};

std::vector<NamedTensor> tensors()
{
    return {{"a", attn::row_major_view(ElementType::float32, {1, 2}, std::as_bytes(std::span(raw_floats)))},
            {"b", attn::row_major_view(ElementType::float64, {3}, std::as_bytes(std::span(raw_doubles)))},
            {"none", attn::row_major_view(ElementType::float16, {0, 4}, {})}};
}

const std::string header = R"({"schema":"attn-cli/raw/1","bytes":128,"arrays":[)"
                           R"({"name":"a","dtype":"float32","shape":[1,2],"offset":0},)"
                           R"({"name":"b","dtype":"float64","shape":[3],"offset":64},)"
                           R"({"name":"none","dtype":"float16","shape":[0,4],"offset":128}]})";
const std::string numbers =
    elements<float>({1.5F, -2}) + std::string(56, '\0') + elements<double>({1, 2, 3}) + std::string(40, '\0');

attn::io::TensorFile read_raw_text(std::string_view text, std::string_view bytes = numbers)
{
    return attn::io::read_raw(text, oracle::bytes_of(bytes));
}

/// The header of one array in 8 bytes.
std::string one(std::string_view dtype, std::string_view shape, std::string_view offset = "0")
{
    return R"({"schema":"attn-cli/raw/1","bytes":8,"arrays":[{"name":"a","dtype":")" + std::string(dtype) + R"(","shape":)" +
           std::string(shape) + R"(,"offset":)" + std::string(offset) + "}]}";
}

void expect_header_refused(std::string_view text, std::string_view words, std::string_view bytes = "12345678")
{
    oracle::expect_refusal([&] { (void)read_raw_text(text, bytes); }, words);
}

TEST(Raw, LiesOneAfterAnotherOnCacheLines)
{
    attn::Buffer buffer;
    attn::io::write_raw(tensors(), buffer);
    EXPECT_EQ(buffer.text(), numbers);
    EXPECT_EQ(attn::io::raw_header(tensors()), header + "\n");
}

TEST(Raw, IsReadWhereItLies)
{
    const attn::io::TensorFile file = read_raw_text(header);
    ASSERT_EQ(file.entries.size(), 3U);
    EXPECT_EQ(oracle::values(file, "a"), (Values{1.5, -2}));
    EXPECT_EQ(oracle::values(file, "b"), (Values{1, 2, 3}));
    EXPECT_EQ(file.at("none", "").view.shape, (Shape{0, 4}));
    EXPECT_EQ(static_cast<const void*>(file.at("b", "").view.bytes.data()), numbers.data() + 64);
    EXPECT_EQ(oracle::values(read_raw_text(header + "\n"), "a"), (Values{1.5, -2}));
}

TEST(Raw, HasEveryElementTypeAndBeginsAnywhere)
{
    const auto first = [](std::string_view dtype, std::string_view shape, std::string_view offset, const std::string& bytes) {
        return oracle::values(read_raw_text(one(dtype, shape, offset), bytes), "a").at(0);
    };
    EXPECT_EQ(first("float16", "[]", "3", std::string(3, 'x') + elements<std::uint16_t>({0x3e00}) + "xyz"), 1.5);
    EXPECT_EQ(first("bfloat16", "[1,2]", "4", "0123" + elements<std::uint16_t>({0x3fc0, 0})), 1.5);
    EXPECT_EQ(first("float32", "[2]", "0", elements<float>({1.5F, 2})), 1.5);
    EXPECT_EQ(first("float64", "[1]", "0", elements<double>({1.5})), 1.5);
    EXPECT_EQ(first("bool", "[1]", "7", std::string("1234567\1")), 1);
    EXPECT_EQ(first("int32", "[1]", "1", "1" + elements<std::int32_t>({-7}) + "678"), -7);
    EXPECT_EQ(first("int64", "[1]", "0", elements<std::int64_t>({-7})), -7);
}

TEST(Raw, RefusesAHeaderOfOtherNumbers)
{
    expect_header_refused(one("float32", "[3]"), "arrays[0].shape");
    expect_header_refused(one("float32", "[2]", "1"), "arrays[0].shape");
    expect_header_refused(one("float32", "[2]"), "bytes", "1234567");
    expect_header_refused(one("float32", "[2]"), "bytes", "123456789");
    expect_header_refused(one("float32", "[0]", "9"), "arrays[0].offset");
    expect_header_refused(one("float32", "[4611686018427387904,4]"), "arrays[0].shape");
    expect_header_refused(one("float32", "[0,4611686018427387904,4611686018427387904]"), "arrays[0].shape");
}

TEST(Raw, RefusesWhatIsNoHeader)
{
    expect_header_refused("", "JSON");
    expect_header_refused("[]", "object");
    expect_header_refused("{}", "schema");
    expect_header_refused(one("float8", "[1]"), "arrays[0].dtype");
    expect_header_refused(one("float32", "[-1]"), "arrays[0].shape[0]");
    expect_header_refused(one("float32", "2"), "arrays[0].shape");
    expect_header_refused(one(
                              "float32", "[1" +
                                             [] {
                                                 std::string more;
                                                 for (int i = 0; i < 64; ++i) {
                                                     more += ",1";
                                                 }
                                                 return more;
                                             }() +
                                             "]"),
                          "64 dimensions");
    std::string twice = header;
    expect_header_refused(twice.replace(twice.find(R"("b")"), 3, R"("a")"), "arrays[1]", numbers);
}

} // namespace
