#include "attn/io/json/saved_result.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace {

using attn::ElementType;
using attn::io::Document;
using attn::io::kind_of;
using attn::io::parse_saved_result;
using attn::model::Leaf;
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

/// "weights (1, 2) 1.0 0.5"
std::string text_of(const Leaf& leaf)
{
    std::string text = leaf.name + ' ' + attn::to_string(leaf.shape);
    for (const std::string& each : leaf.texts.strings()) {
        text += ' ' + each;
    }
    return text;
}

std::vector<std::string> texts_of(const SavedResult& saved)
{
    std::vector<std::string> texts;
    for (const Leaf& leaf : saved.leaves) {
        texts.push_back(text_of(leaf));
    }
    return texts;
}

TEST(SavedResult, HoldsWhatTheFileStatesAndNoMore)
{
    const SavedResult bare = parse_saved_result(result(""));
    const auto& config = std::get<attn::model::Recipe>(bare.config);
    EXPECT_EQ(std::get<attn::model::SentenceInput>(config.input).sentence, "b a");
    EXPECT_TRUE(bare.layers.empty());
    EXPECT_TRUE(bare.leaves.empty());
}

TEST(SavedResult, KeepsEveryDecimalAsItStands)
{
    const SavedResult saved = parse_saved_result(result(
        R"("index":3,"tokens":["b","a"],"key_tokens":["c"],"vocabulary":{"a":0,"b":1},"token_ids":[1,0],"query_positions":[1],
           "parameters":{"W_q":[[0.10,-0]]},"masked_scores":[[[1.0,null],["inf","-inf"]]],"weights":[[[1.0,5e-45]]],
           "summary":{"largest_entropy":0.0,"heads":[{"entropy":1,"pairs":[{"query":1,"query_token":"b","key":0,"key_token":"a",
           "weight":0.50}]}]},"verify":{"weights":{"absolute":1e-8,"relative":"nan"}},"warnings":["w"])"));
    EXPECT_EQ(texts_of(saved), (std::vector<std::string>{
                                   "tokens (2,) b a",
                                   "key_tokens (1,) c",
                                   "vocabulary (2, 2) a 0 b 1",
                                   "token_ids (2,) 1 0",
                                   "query_positions (1,) 1",
                                   "W_q (1, 2) 0.10 -0",
                                   "masked_scores (1, 2, 2) 1.0 null inf -inf",
                                   "weights (1, 1, 2) 1.0 5e-45",
                                   "summary.largest_entropy () 0.0",
                                   "summary.heads[0].entropy () 1",
                                   "summary.heads[0].pairs[0].query () 1",
                                   "summary.heads[0].pairs[0].key () 0",
                                   "summary.heads[0].pairs[0].query_token () b",
                                   "summary.heads[0].pairs[0].key_token () a",
                                   "summary.heads[0].pairs[0].weight () 0.50",
                                   "verify.weights.absolute () 1e-8",
                                   "verify.weights.relative () nan",
                                   "warnings (1,) w",
                               }));
    EXPECT_EQ(saved.top(), 1);
    const auto type_of = [&](std::string_view name) { return saved.find(name)->type; };
    EXPECT_FALSE(type_of("vocabulary"));
    EXPECT_FALSE(type_of("summary.heads[0].pairs[0].key_token"));
    EXPECT_EQ(type_of("token_ids"), ElementType::int64);
    EXPECT_EQ(type_of("weights"), ElementType::float32);
    EXPECT_EQ(type_of("summary.heads[0].pairs[0].weight"), ElementType::float32);
    EXPECT_EQ(type_of("verify.weights.absolute"), ElementType::float64);
}

TEST(SavedResult, OfAModelSaysOfWhichLayerEachLeafIs)
{
    const SavedResult saved = parse_saved_result(
        R"({"schema":"attn-cli/result/2","config":{"input":{"sentence":"a b"},"model":{"name":"induction"}},"tokens":["a","b"],)"
        R"("token_ids":[2,3],"layers":[{"layer":0,"weights":[[[1]]]},{"layer":1,"weights":[[[0.5]]]}],"logits":[[1]],)"
        R"("likeliest":[],"warnings":[]})");
    EXPECT_EQ(texts_of(saved),
              (std::vector<std::string>{"tokens (2,) a b", "weights (1, 1, 1) 1", "token_ids (2,) 2 3", "warnings (0,)",
                                        "weights (1, 1, 1) 0.5", "logits (1, 1) 1", "likeliest (0,)"}));
    std::vector<std::optional<attn::Index>> layers;
    std::ranges::transform(saved.leaves, std::back_inserter(layers),
                           [](const Leaf& leaf) { return leaf.layer ? std::optional(leaf.layer->number) : std::nullopt; });
    EXPECT_EQ(layers, (std::vector<std::optional<attn::Index>>{0, 0, 0, 0, 1, {}, {}}));
    EXPECT_EQ(saved.layers.back().number, 1);
}

TEST(SavedResult, RefusesWhatIsNone)
{
    const std::string number = "allowed: a number, \"inf\", \"-inf\" or \"nan\"";
    const std::vector<std::pair<const char*, std::string>> cases{
        {R"("weight":[])", "key: got 'weight'; allowed: schema, index,"},
        {R"("weights":[[[null]]])", "weights[0][0][0]: got null; " + number},
        {R"("weights":[[["Inf"]]])", "weights[0][0][0]: got 'Inf'; " + number},
        {R"("weights":[[[1],[1,2]]])",
         "weights[0][1]: got an array of 2 elements; allowed: an array of 1 element, as before it"},
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

TEST(SavedResult, ALikelyWordHasNumbersAndNoLists)
{
    const auto refused = [](const char* position, const char* probability) {
        return error_of([&] {
            (void)attn::io::parse_saved_result(fmt::format(
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
