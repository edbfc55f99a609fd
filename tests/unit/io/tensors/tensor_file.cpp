#include "attn/io/tensors/tensor_file.hpp"

#include "oracle/tensor_file_bytes.hpp"

namespace {

using attn::io::TensorFormat;

TensorFormat format_of(std::string_view file)
{
    return attn::io::format_of(oracle::bytes_of(file), "q.file");
}

TEST(FormatOf, LooksAtTheFirstBytesAlone)
{
    EXPECT_EQ(format_of("\x93NUMPY"), TensorFormat::npy);
    EXPECT_EQ(format_of("PK\x03\x04"), TensorFormat::npz);
    EXPECT_EQ(format_of("PK\x05\x06"), TensorFormat::npz);
    EXPECT_EQ(format_of(std::string("\2\0\0\0\0\0\0\0{}", 10)), TensorFormat::safetensors);
}

TEST(FormatOf, RefusesEverythingElse)
{
    oracle::expect_refusal([] { (void)format_of(""); }, "q.file: got an empty file");
    oracle::expect_refusal(
        [] { (void)format_of("\x89PNG\r\n\x1a\n12"); },
        "q.file: got a file that begins with '\\x89PNG\\r\\n\\x1a\\n1'; allowed: the formats .npy, .npz and");
    oracle::expect_refusal([] { (void)format_of("{\"schema\":"); }, "'{\"schema\"'");
}

TEST(TensorNames, AreThoseOfAllTensorsReadableOrNot)
{
    const auto names = [](std::string_view file) { return attn::io::tensor_names(oracle::bytes_of(file), "q.file"); };
    using Names = std::vector<std::string>;
    const std::string one = oracle::npy(oracle::npy_header("<f4", "()"), oracle::elements<float>({1}));
    const std::string other = oracle::npy(oracle::npy_header("<u4", "()"), oracle::elements<float>({1}));
    EXPECT_EQ(names(one), Names{""});
    EXPECT_EQ(names(oracle::zip({{"b.npy", one, true}, {"a.npy", other}})), (Names{"b", "a"}));
    EXPECT_EQ(names(oracle::zip({})), Names{});
    const std::string tensors = R"({"x":{"dtype":"F32","shape":[],"data_offsets":[4,8]},)"
                                R"("y":{"dtype":"U32","shape":[],"data_offsets":[0,4]}})";
    EXPECT_EQ(names(oracle::safetensors(tensors, oracle::elements<float>({1, 2}))), (Names{"x", "y"}));
    oracle::expect_refusal([&] { (void)names(oracle::zip({{"a.txt", one}})); }, "'a.txt'");
}

TEST(TensorFile, NamesTheFirstTensorsWhenAskedForOneThatIsNotThere)
{
    attn::io::TensorFile file;
    oracle::expect_refusal([&] { (void)file.at("x", "q.file"); },
                           "q.file: got no tensor 'x'; allowed: the name of a tensor in it");
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
        file.entries.push_back({name, {}});
    }
    oracle::expect_refusal([&] { (void)file.at("x", "q.file"); }, "allowed: 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', …");
}

} // namespace
