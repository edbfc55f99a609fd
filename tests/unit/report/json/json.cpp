#include "attn/report/json/json.hpp"

#include "attn/report/json_writer.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace {

using attn::Tensor;
using attn::model::Item;
using attn::model::Result;
using Json = nlohmann::ordered_json;

std::vector<std::string> keys_of(const Json& object)
{
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) {
        keys.push_back(key);
    }
    return keys;
}

constexpr const char* config = R"({"schema":"attn-cli/recipe/1","input":{"sentence":"to be","tokenizer":"document",)"
                               R"("casefold":false},"generator":"torch","dtype":"float32","draws":[{"seed":123},)"
                               R"({"tensor":"embedding","init":"normal"},{"tensor":"W_q","init":"uniform"},)"
                               R"({"tensor":"W_k","init":"uniform"},{"tensor":"W_v","init":"uniform"}]})";

TEST(Json, IsOneCompactLine)
{
    EXPECT_EQ(sample::json_of(sample::two_words()), std::string(R"({"schema":"attn-cli/result/1","config":)") + config +
                                                        R"(,"tokens":["to","be"],"vocabulary":{"be":0,"to":1},)"
                                                        R"("weights":[[[0.75,0.25],[5e-04,0.9995]]],)"
                                                        R"("context":[[1.0,2.0,3.0],[-0.0,5e-09,6.0]],"warnings":[]})"
                                                        "\n");
}

TEST(Json, StartsWithTheIndexOfALine)
{
    EXPECT_EQ(sample::json_of(sample::two_words(), 7).substr(0, 50), R"({"schema":"attn-cli/result/1","index":7,"config":{)");
}

/// Everything that a result can hold.
Result full_result()
{
    Result result;
    result.config() = attn::model::default_recipe();
    result.config().query = {"1"};
    result.config().verify = true;
    result.tokens = {"a", "b"};
    result.key_tokens = {"c"};
    result.cross = true;
    result.vocabulary = {"a", "b", "c"};
    result.token_ids = {0, 1};
    result.key_token_ids = {2};
    result.query_positions = {1};
    result.front().heads = {2};
    result.parameters = {{"embedding", Tensor<float>({3, 1})}, {"W_q", Tensor<float>({1, 1, 1})}};
    for (const attn::model::ItemInfo& info : attn::model::items) {
        const bool of_run = info.shown_by != attn::model::ShownBy::attend && !is_of_models(info);
        if (info.kind == attn::model::ItemKind::numbers && of_run) {
            result.front().arrays.push_back({std::string(info.name), Tensor<float>({1, 1, 1})});
        }
    }
    result.front().summary = attn::model::Summary{};
    result.verify = {{"weights", 1e-8, 2e-7}};
    result.warnings = {"a \"dot\" product"};
    for (const attn::model::ItemInfo& info : attn::model::items) {
        result.show.insert(info.item);
    }
    return result;
}

TEST(Json, HasItsKeysInOrder)
{
    const Json json = Json::parse(sample::json_of(full_result(), 0));
    EXPECT_EQ(keys_of(json), (std::vector<std::string>{"schema",          "index",           "config",        "tokens",
                                                       "key_tokens",      "vocabulary",      "token_ids",     "key_token_ids",
                                                       "query_positions", "heads",           "parameters",    "embeddings",
                                                       "key_embeddings",  "queries",         "keys",          "values",
                                                       "scores",          "scaled_scores",   "capped_scores", "masked_scores",
                                                       "weights",         "dropped_weights", "head_context",  "context",
                                                       "output",          "entropy",         "lse",           "summary",
                                                       "verify",          "warnings"}));
    EXPECT_EQ(keys_of(json["parameters"]), (std::vector<std::string>{"embedding", "W_q"}));
    EXPECT_EQ(json["verify"].dump(), R"({"weights":{"absolute":1e-08,"relative":2e-07}})");
    EXPECT_EQ(json["query_positions"].dump(), "[1]");
    EXPECT_EQ(json["heads"].dump(), "[2]");
    EXPECT_EQ(json["warnings"][0], "a \"dot\" product");
    EXPECT_EQ(json["config"]["query"].dump(), R"(["1"])");
    EXPECT_EQ(json["config"]["verify"], true);
}

TEST(Json, CallsTheMeanOfHeadsSo)
{
    Result result = full_result();
    result.front().heads = {attn::model::mean_of_heads};
    result.config().head = result.front().heads;
    const Json json = Json::parse(sample::json_of(result));
    EXPECT_EQ(json["heads"], "mean");
    EXPECT_EQ(json["config"]["head"], "mean");
}

TEST(Json, ShowsOnlyWhatIsAskedFor)
{
    for (const attn::model::ItemInfo& info : attn::model::items) {
        if (!is_shown_by(info, attn::model::ShownBy::run) || is_of_models(info)) {
            continue;
        }
        Result result = full_result();
        result.config().verify = false;
        result.query_positions.clear();
        result.front().heads.clear();
        result.show = {info.item};
        EXPECT_EQ(keys_of(Json::parse(sample::json_of(result))),
                  (std::vector<std::string>{"schema", "config", std::string(info.name), "warnings"}));
    }
}

TEST(Json, LeavesOutWhatDoesNotExist)
{
    Result result = full_result();
    result.cross = false;
    result.vocabulary.reset();
    result.token_ids.clear();
    result.key_token_ids.clear();
    result.front().arrays.clear();
    const Json json = Json::parse(sample::json_of(result));
    for (const char* key : {"key_tokens", "vocabulary", "token_ids", "key_token_ids", "weights"}) {
        EXPECT_FALSE(json.contains(key)) << key;
    }
}

TEST(Json, WritesWhatIsNotFiniteAsStringsAndMaskedAsNull)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Result result = sample::two_words();
    result.front().arrays = {{"scores", Tensor<double>({4}, {infinity, -infinity, std::nan(""), -std::nan("")})},
                             {"masked_scores", Tensor<double>({2}, {infinity, -infinity})}};
    result.show = {Item::scores, Item::masked_scores};
    const std::string json = sample::json_of(result);
    EXPECT_NE(json.find(R"("scores":["inf","-inf","nan","nan"],"masked_scores":["inf",null],)"), std::string::npos) << json;
}

TEST(Json, WritesTheNumbersOfEveryShapeSoThatTheyReadBack)
{
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        attn::Shape shape(random() % 4);
        for (attn::Index& length : shape) {
            length = static_cast<attn::Index>(random() % 6);
        }
        Result result = sample::two_words();
        const bool single = random() % 2 == 0;
        const auto tensor_of = [&]() -> attn::AnyTensor {
            if (single) {
                return sample::random_tensor<float>(shape, random);
            }
            return sample::random_tensor<double>(shape, random);
        };
        result.front().arrays = {{"weights", tensor_of()}};
        const Json nested = Json::parse(sample::json_of(result))["weights"];
        std::vector<Json> flat{nested};
        for (const attn::Index length : shape) {
            std::vector<Json> next;
            for (const Json& array : flat) {
                ASSERT_TRUE(array.is_array());
                ASSERT_EQ(std::ssize(array), length) << seed;
                next.insert(next.end(), array.begin(), array.end());
            }
            flat = next;
        }
        std::visit(
            [&](const auto& tensor) {
                ASSERT_EQ(flat.size(), tensor.values.size()) << seed;
                for (std::size_t i = 0; i < flat.size(); ++i) {
                    const auto value = tensor.values[i];
                    if (std::isfinite(value)) {
                        // Through double, as every reader does it; the shortest decimal of a float survives that.
                        EXPECT_EQ(static_cast<std::remove_cv_t<decltype(value)>>(flat[i].get<double>()), value) << seed;
                        EXPECT_TRUE(flat[i].is_number_float());
                    } else {
                        EXPECT_EQ(flat[i], std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf") << seed;
                    }
                }
            },
            result.front().arrays[0].tensor);
    }
}

class Counted : public attn::Buffer {
public:
    Counted() : Buffer(usual_size) {}
    std::size_t pieces = 0;
    std::size_t total = 0;

private:
    void send(std::string_view bytes) override
    {
        ++pieces;
        total += bytes.size();
        EXPECT_LE(bytes.size(), 66U * 1024);
    }
};

TEST(Json, HandsOverLargePieces)
{
    Result result = sample::two_words();
    result.front().arrays = {{"weights", Tensor<float>({1, 300, 300})}};
    Counted written;
    attn::report::write_json(result, {}, written);
    written.flush();
    EXPECT_GT(written.total, 300U * 300 * 4);
    EXPECT_EQ(written.pieces, written.total / (64 * 1024) + 1);
}

TEST(Json, WithAConfigMadeInAdvanceIsTheSameText)
{
    attn::model::Result result = sample::two_words();
    result.config().title = R"(a "sentence":"" in a title)";
    result.config().attention.causal = true;
    for (const std::string sentence : {"to be", "", R"(say "no"\)", "a\tb \u2028"}) {
        std::get<attn::model::SentenceInput>(result.config().input) = {.sentence = sentence, .cross = "an \"other\" one"};
        attn::model::Recipe other = result.config();
        std::get<attn::model::SentenceInput>(other.input).sentence = "another";
        const attn::report::ConfigText made = attn::report::config_text(other);
        EXPECT_EQ(sample::text_of([&](auto& out) { attn::report::write_json(result, {.index = 7, .config = &made}, out); }),
                  sample::text_of([&](auto& out) { attn::report::write_json(result, {.index = 7}, out); }));
    }
}

TEST(JsonError, NamesTheLine)
{
    const std::string text =
        sample::text_of([](attn::Buffer& buffer) { attn::report::write_json_error(3, 65, "line 4: got '\"'", buffer); });
    EXPECT_EQ(text, "{\"index\":3,\"error\":{\"code\":65,\"message\":\"line 4: got '\\\"'\"}}\n");
}

std::string json_string(std::string_view text)
{
    return sample::text_of([&](attn::Buffer& buffer) { attn::report::JsonWriter(buffer).string(text); });
}

TEST(JsonString, EscapesWhatJsonRequiresAndWhatSteersTerminals)
{
    EXPECT_EQ(json_string("a\"b\\c/d"), R"("a\"b\\c/d")");
    EXPECT_EQ(json_string("\n\r\t\b\x01\x1b\x7f"), R"("\n\r\t\u0008\u0001\u001b\u007f")");
    EXPECT_EQ(json_string(std::string_view("\0", 1)), R"("\u0000")");
    EXPECT_EQ(json_string("\u0080\u0085\u009f\u00a0"), "\"\\u0080\\u0085\\u009f\u00a0\"");
    EXPECT_EQ(json_string("\u2027\u2028\u2029\u202f"), "\"\u2027\\u2028\\u2029\u202f\"");
    EXPECT_EQ(json_string("na\u00efve \u4eba \U0001f600"), "\"na\u00efve \u4eba \U0001f600\"");
}

TEST(JsonString, EscapesWhatTurnsTheDirectionAndLeavesJoinersAlone)
{
    EXPECT_EQ(json_string("\u061c\u200e\u200f"), R"("\u061c\u200e\u200f")");
    EXPECT_EQ(json_string("\u202a\u202b\u202c\u202d\u202e"), R"("\u202a\u202b\u202c\u202d\u202e")");
    EXPECT_EQ(json_string("\u2066\u2067\u2068\u2069"), R"("\u2066\u2067\u2068\u2069")");
    for (const char* kept :
         {"\u200c", "\u200d", "\u061b", "\u061d", "\u200b", "\u2010", "\u202f", "\u2065", "\u206a", "\u0627"}) {
        EXPECT_EQ(json_string(kept), '"' + std::string(kept) + '"');
    }
}

TEST(JsonString, HasAReplacementForEachByteThatIsNoUtf8)
{
    EXPECT_EQ(json_string("\xd8"), R"("\ufffd")");
    EXPECT_EQ(json_string("\xe2\x80 \x9c"), R"("\ufffd\ufffd \ufffd")");
}

TEST(JsonString, ReadsBack)
{
    for (unsigned seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        std::string text;
        for (int i = 0; i < 20; ++i) {
            static constexpr std::array pieces{"a",      "\"",     "\\",     "\n",     "\x02",       "\x7f",   "\u0085",
                                               "\u00c2", "\u2028", "\u20a8", "\u4eba", "\U0001f600", "\u0080", "\u2029",
                                               "/",      "\u061c", "\u200e", "\u202e", "\u2066",     "\u200d"};
            text += pieces[random() % pieces.size()];
        }
        EXPECT_EQ(Json::parse(json_string(text)).get<std::string>(), text);
    }
}

} // namespace
