#include "attn/io/json/saved_result.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace {

using attn::Shape;
using attn::io::Document;
using attn::io::kind_of;
using attn::io::parse_saved_result;
using attn::model::SavedResult;

std::string result(const std::string& members)
{
    return R"({"schema":"attn-cli/result/1","config":{"schema":"attn-cli/recipe/1","input":{"sentence":"b a"},"draws":[{"seed":7}]})" +
           (members.empty() ? "" : "," + members) + "}";
}

std::string result_error(const std::string& json)
{
    return error_of([&] { (void)parse_saved_result(json); });
}

TEST(SavedResult, HoldsWhatTheFileStatesAndNoMore)
{
    const SavedResult bare = parse_saved_result(result(""));
    EXPECT_EQ(std::get<attn::model::SentenceInput>(bare.config.input).sentence, "b a");
    EXPECT_FALSE(bare.index);
    EXPECT_FALSE(bare.tokens);
    EXPECT_FALSE(bare.vocabulary);
    EXPECT_FALSE(bare.warnings);
    EXPECT_TRUE(bare.arrays.empty());
    EXPECT_TRUE(bare.verify.empty());
}

TEST(SavedResult, KeepsEveryDecimalAsItStands)
{
    const SavedResult saved = parse_saved_result(result(
        R"("index":3,"tokens":["b","a"],"key_tokens":["c"],"vocabulary":{"a":0,"b":1},"token_ids":[1,0],"query_positions":[1],
           "parameters":{"W_q":[[0.10,-0]]},"masked_scores":[[[1.0,null],["inf","-inf"]]],"weights":[[[1.0,5e-45]]],
           "summary":{"largest_entropy":0.0,"heads":[{"entropy":1,"pairs":[{"query":1,"query_token":"b","key":0,"key_token":"a",
           "weight":0.50}]}]},"verify":{"weights":{"absolute":1e-8,"relative":"nan"}},"warnings":["w"])"));
    EXPECT_EQ(saved.index, 3);
    EXPECT_EQ(*saved.tokens, (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(*saved.key_tokens, std::vector<std::string>{"c"});
    EXPECT_EQ(*saved.vocabulary, (std::vector<std::pair<std::string, std::string>>{{"a", "0"}, {"b", "1"}}));
    EXPECT_EQ(*saved.warnings, std::vector<std::string>{"w"});
    ASSERT_EQ(saved.arrays.size(), 5U);
    EXPECT_EQ(saved.arrays[0].name, "token_ids");
    EXPECT_EQ(saved.arrays[0].decimals, (std::vector<std::string>{"1", "0"}));
    EXPECT_EQ(saved.arrays[1].name, "query_positions");
    EXPECT_EQ(saved.arrays[2].name, "W_q");
    EXPECT_EQ(saved.arrays[2].shape, (Shape{1, 2}));
    EXPECT_EQ(saved.arrays[2].decimals, (std::vector<std::string>{"0.10", "-0"}));
    EXPECT_EQ(saved.arrays[3].shape, (Shape{1, 2, 2}));
    EXPECT_EQ(saved.arrays[3].decimals, (std::vector<std::string>{"1.0", "null", "inf", "-inf"}));
    EXPECT_EQ(saved.arrays[4].decimals, (std::vector<std::string>{"1.0", "5e-45"}));
    ASSERT_TRUE(saved.summary);
    EXPECT_EQ(saved.summary->top, 1);
    ASSERT_EQ(saved.summary->values.size(), 7U);
    EXPECT_EQ(saved.summary->values[0].name, "summary.largest_entropy");
    EXPECT_EQ(saved.summary->values[6].name, "summary.heads[0].pairs[0].weight");
    EXPECT_EQ(saved.summary->values[6].decimals, std::vector<std::string>{"0.50"});
    ASSERT_EQ(saved.verify.size(), 1U);
    EXPECT_EQ(saved.verify[0].array, "weights");
    EXPECT_EQ(saved.verify[0].absolute, "1e-8");
    EXPECT_EQ(saved.verify[0].relative, "nan");
}

TEST(SavedResult, RefusesWhatIsNone)
{
    const std::string number = "allowed: a number, \"inf\", \"-inf\" or \"nan\"";
    const std::vector<std::pair<const char*, std::string>> cases{
        {R"("weight":[])", "key: got 'weight'; allowed: schema, index,"},
        {R"("weights":[[[null]]])", "weights[0][0][0]: got null; " + number},
        {R"("weights":[[["Inf"]]])", "weights[0][0][0]: got 'Inf'; " + number},
        {R"("weights":[[[1],[1,2]]])",
         "weights[0][1]: got an array of 2 elements; allowed: an array of 1 element, as beside it"},
        {R"("weights":{})", "weights: got an object of 0 members; " + number},
        {R"("masked_scores":[true])",
         "masked_scores[0]: got true; allowed: a number, \"inf\", \"-inf\", \"nan\", or null where masked"},
        {R"("token_ids":[1.0])", "token_ids[0]: got 1.0; allowed: integers of 0 and more"},
        {R"("token_ids":[-1])", "token_ids[0]: got -1; allowed: integers of 0 and more"},
        {R"("vocabulary":{"a":"0"})", "vocabulary.a: got the string '0'; allowed: an integer from 0 to 9223372036854775807"},
        {R"("tokens":[1])", "tokens[0]: got 1; allowed: a string"},
        {R"("parameters":{"W_x":[]})", "parameters: key: got 'W_x'; allowed: embedding, key_embedding,"},
        {R"("verify":{"weights":{"absolute":1}})", "verify.weights: key 'relative' is missing"},
        {R"("verify":{"weights":{"absolute":[1],"relative":1}})",
         "verify.weights.absolute: got an array of 1 element; allowed: one number"},
        {R"("index":-1)", "index: got -1; allowed: an integer from 0 to 9223372036854775807"},
    };
    for (const auto& [members, message] : cases) {
        EXPECT_EQ(result_error(result(members)).substr(0, message.size()), message) << members;
    }
    EXPECT_EQ(result_error(R"({"schema":"attn-cli/result/1"})"), "JSON: key 'config' is missing");
    EXPECT_EQ(result_error(
                  R"({"schema":"attn-cli/result/1","config":{"schema":"attn-cli/recipe/1","input":{"ids":[0.5]},"draws":[]}})"),
              "config.input.ids[0]: got 0.5; allowed: an integer from 0 to 2147483646");
}

TEST(SavedResult, IsToldFromARecipeByItsSchema)
{
    EXPECT_EQ(kind_of(result("")), Document::result);
    EXPECT_EQ(kind_of(R"({"schema":"attn-cli/recipe/1"})"), Document::recipe);
    EXPECT_EQ(kind_of(R"({"schema":"attn-cli/tensor/1"})"), Document::tensor);
    EXPECT_EQ(kind_of("{}"), Document::unknown);
    EXPECT_THROW((void)kind_of("[1]"), attn::Error);
    EXPECT_EQ(kind_of(R"({"index":0,"error":1})"), Document::failed_line);
    EXPECT_EQ(kind_of(R"({"index":0,"error":1,"schema":"attn-cli/result/1"})"), Document::result);
    EXPECT_EQ(kind_of(R"({"index":0,"errors":1})"), Document::unknown);
}

TEST(SavedLayers, ALikelyWordHasNumbersAndNoLists)
{
    const auto refused = [](const char* position, const char* probability) {
        return error_of([&] {
            (void)attn::io::parse_saved_layers(fmt::format(
                R"({{"schema":"attn-cli/result/2","config":{{"input":{{"sentence":"a b"}},"model":{{"name":"induction"}}}},)"
                R"("layers":[{{"layer":0}}],"likeliest":[{{"position":{},"words":[{{"token":"a","id":2,"probability":{}}}]}}]}})",
                position, probability));
        });
    };
    EXPECT_EQ(refused("[]", "0.5"), "likeliest[0].position: got an array of 0 elements; allowed: one number");
    EXPECT_EQ(refused("1", "[]"), "likeliest[0].words[0].probability: got an array of 0 elements; allowed: one number");
}

TEST(FailedLine, GivesItsMessageAndNothingElse)
{
    using attn::io::parse_failed_line;
    EXPECT_EQ(parse_failed_line(R"({"index":3,"error":{"code":65,"message":"no words"}})"), "no words");
    for (const char* json :
         {R"({"index":-1,"error":{"code":65,"message":""}})", R"({"index":3,"error":{"code":65}})",
          R"({"index":3,"error":{"code":"65","message":""}})", R"({"index":3,"error":{"code":65,"message":"","x":0}})"}) {
        EXPECT_THROW((void)parse_failed_line(json), attn::Error) << json;
    }
}

} // namespace
