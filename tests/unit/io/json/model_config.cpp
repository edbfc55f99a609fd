#include "attn/io/json/model_config.hpp"

#include "unit/error_of.hpp"

#include <gtest/gtest.h>

namespace {

namespace io = attn::io;
using attn::transformer::ConfigNull;
using attn::transformer::ConfigObject;
using attn::transformer::ConfigScalar;
using attn::transformer::ConfigValue;
using attn::transformer::ConfigValues;

std::string config_refusal(std::string_view text)
{
    return error_of([&] { (void)io::read_model_config(text); });
}

std::string index_refusal(std::string_view text)
{
    return error_of([&] { (void)io::read_weight_map(text); });
}

TEST(ModelConfig, IsReadFlat)
{
    const ConfigValues values = io::read_model_config(
        R"({"a": 1, "b": {"c": -2.5, "d": {"e": true}}, "f": null, "g": "text", "h": {}, "i": [1, "two", false, null], "j": []})");
    EXPECT_EQ(values, (ConfigValues{{"a", 1.0},
                                    {"b", ConfigObject{}},
                                    {"b.c", -2.5},
                                    {"b.d", ConfigObject{}},
                                    {"b.d.e", true},
                                    {"f", ConfigNull{}},
                                    {"g", "text"},
                                    {"h", ConfigObject{}},
                                    {"i", std::vector<ConfigScalar>{1.0, "two", false, ConfigNull{}}},
                                    {"j", std::vector<ConfigScalar>{}}}));
}

TEST(ModelConfig, NumbersWhatIsInsideOfAList)
{
    const ConfigValues values = io::read_model_config(R"({"a": [[["global", "local"], 2]], "b": [{"c": 1}, 5, {"c": 2}]})");
    EXPECT_EQ(values, (ConfigValues{{"a", std::vector<ConfigScalar>{ConfigObject{}}},
                                    {"a.0.0.0", "global"},
                                    {"a.0.0.1", "local"},
                                    {"a.0.1", 2.0},
                                    {"b", std::vector<ConfigScalar>{ConfigObject{}, 5.0, ConfigObject{}}},
                                    {"b.0.c", 1.0},
                                    {"b.1.c", 2.0}}));
}

TEST(ModelConfig, RefusesWhatIsNoConfig)
{
    EXPECT_EQ(config_refusal("[]"), "line 1, column 1: expected an object");
    EXPECT_EQ(config_refusal("\xEF\xBB\xBF[]"), "line 1, column 1: expected an object");
    EXPECT_EQ(config_refusal("3"), "line 1, column 1: expected an object");
    EXPECT_EQ(config_refusal(R"({"a": 1, "a": 2})"), "line 1, column 15: the key 'a' is there twice");
    EXPECT_EQ(config_refusal(R"({"a.b": 1, "a": {"b": 2}})"), "line 1, column 23: the key 'a.b' is there twice");
    EXPECT_TRUE(config_refusal("{\"a\": 1").starts_with("malformed JSON at line 1, column "));
    EXPECT_TRUE(config_refusal("").starts_with("malformed JSON at line 1, column 1: "));
    EXPECT_TRUE(config_refusal(R"({"a": 1e999})").starts_with("malformed JSON at "));
    std::string deep;
    for (int i = 0; i < 33; ++i) {
        deep += R"({"a":)";
    }
    EXPECT_NE(config_refusal(deep).find("nested deeper than 32 levels"), std::string::npos);
}

TEST(ModelConfig, KeepsNoMoreKeysThanAnyModelHas)
{
    std::string many;
    for (int i = 0; i < 2000; ++i) {
        many += "\"" + std::to_string(i) + "\":0,";
    }
    const std::string long_key(1'000'000, 'k');
    EXPECT_NE(config_refusal("{\"" + long_key + "\":{" + many + "\"\":0}}").find("more keys, or longer ones, than"),
              std::string::npos);
    EXPECT_EQ(io::read_model_config("{\"id2label\":{" + many + "\"\":0}}").size(), 2002U);
}

TEST(WeightMap, SaysWhichFileHasWhichTensor)
{
    const auto map = io::read_weight_map(
        R"({"metadata": {"total_size": 5, "list": [1, {"weight_map": {}}]}, "weight_map": {"b": "2.safetensors", "a": "1.safetensors",
            "c": "2.safetensors"}, "more": "text"})");
    EXPECT_EQ(map,
              (std::map<std::string, std::string>{{"a", "1.safetensors"}, {"b", "2.safetensors"}, {"c", "2.safetensors"}}));
    EXPECT_EQ(io::files_of(map), (std::vector<std::string>{"1.safetensors", "2.safetensors"}));
}

TEST(WeightMap, NamesNoFilesOfOtherFolders)
{
    for (const std::string name : {"", ".", "..", ".hidden", "a/b", "/etc/passwd", "..\\\\x"}) {
        EXPECT_NE(index_refusal(R"({"weight_map": {"a": ")" + name + "\"}}")
                      .find("which is not the plain name of a file beside the index"),
                  std::string::npos)
            << name;
    }
}

TEST(WeightMap, RefusesWhatIsNoIndex)
{
    EXPECT_EQ(index_refusal("{}"), "it has no weight_map, which says which file has which tensor");
    EXPECT_EQ(index_refusal(R"({"weight_map": 3})"), "line 1, column 16: weight_map: expected an object, found a number");
    EXPECT_EQ(index_refusal(R"({"weight_map": {"a": 3}})"),
              "line 1, column 22: weight_map: expected the name of a file, found a number");
    EXPECT_NE(index_refusal(R"({"weight_map": {"a": {}}})"), "no error");
    EXPECT_NE(index_refusal(R"({"weight_map": {"a": ["b"]}})"), "no error");
    EXPECT_NE(index_refusal(R"({"weight_map": ["b"]})"), "no error");
    EXPECT_NE(index_refusal(R"([{"weight_map": {"a": "b"}}])"), "no error");
    EXPECT_NE(index_refusal(R"({"weight_map": {"a": "b", "a": "c"}})"), "no error");
    EXPECT_NE(index_refusal(R"({"weight_map": {"a": "b"}, "weight_map": {"a": "b"}})"), "no error");
}

} // namespace
