#include "attn/report/json/recipe_json.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/report/json/json.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using attn::model::Draw;
using attn::model::Initialisation;
using attn::model::Recipe;
using attn::model::Seed;
using attn::model::Side;
using attn::model::Target;
using Json = nlohmann::ordered_json;

std::string recipe_text(const Recipe& recipe)
{
    return sample::text_of([&](auto& out) { attn::report::write_recipe(recipe, out); });
}

Json recipe_json(const Recipe& recipe)
{
    return Json::parse(recipe_text(recipe));
}

TEST(RecipeJson, SaysLittleByDefault)
{
    Recipe recipe = attn::model::default_recipe();
    recipe.input = attn::model::SentenceInput{.sentence = "a b", .cross = {}};
    EXPECT_EQ(recipe_json(recipe).dump(), R"({"schema":"attn-cli/recipe/1","input":{"sentence":"a b","tokenizer":"document",)"
                                          R"("casefold":false},"generator":"torch","dtype":"float32","draws":[{"seed":123},)"
                                          R"({"tensor":"embedding","init":"normal"},{"tensor":"W_q","init":"uniform"},)"
                                          R"({"tensor":"W_k","init":"uniform"},{"tensor":"W_v","init":"uniform"}]})");
}

TEST(RecipeJson, WritesTheThreeInputs)
{
    using namespace attn::model;
    Recipe recipe;
    recipe.input = SentenceInput{"a", "b", Tokenizer::words, true};
    EXPECT_EQ(recipe_json(recipe)["input"].dump(), R"({"sentence":"a","cross":"b","tokenizer":"words","casefold":true})");
    recipe.input = IdsInput{{2, 0}, {"x", "y"}};
    EXPECT_EQ(recipe_json(recipe)["input"].dump(), R"({"ids":[2,0],"labels":["x","y"]})");
    recipe.input = PositionsInput{8, {}};
    EXPECT_EQ(recipe_json(recipe)["input"].dump(), R"({"positions":8})");
}

TEST(RecipeJson, WritesBatches)
{
    using namespace attn::model;
    Recipe recipe;
    recipe.input = SentenceInput{.sentence = "", .cross = {}, .batch = {"a b", "c"}};
    recipe.entry = 1;
    EXPECT_EQ(recipe_json(recipe)["input"].dump(), R"({"sentence":["a b","c"],"tokenizer":"document","casefold":false})");
    EXPECT_EQ(recipe_json(recipe)["entry"].dump(), "1");
    recipe.input = IdsInput{{2, 0}, {"x", "y"}, 2};
    EXPECT_EQ(recipe_json(recipe)["input"].dump(), R"({"ids":[2,0],"batch":2,"labels":["x","y"]})");
    recipe.input = PositionsInput{8, {}, 3};
    EXPECT_EQ(recipe_json(recipe)["input"].dump(), R"({"positions":8,"batch":3})");
}

TEST(RecipeJson, WritesWhatStandsInFiles)
{
    using namespace attn::model;
    Recipe recipe;
    recipe.parameters = FileParameters{"p.npz", "h.0", MatrixLayout::run, true, true, std::string(64, 'b')};
    recipe.dims.key_dim = 3;
    recipe.dims.value_dim = 5;
    EXPECT_EQ(recipe_json(recipe)["parameters"].dump(),
              R"({"file":"p.npz","prefix":"h.0","layout":"run","output_projection":true,"allow_nonfinite":true,"sha256":")" +
                  std::string(64, 'b') + R"("})");
    EXPECT_EQ(recipe_json(recipe)["dims"].dump(), R"({"key_dim":3,"value_dim":5})");
    recipe.parameters = FileParameters{.file = "p"};
    EXPECT_EQ(recipe_json(recipe)["parameters"].dump(), R"({"file":"p"})");
}

TEST(RecipeJson, WritesPositions)
{
    using namespace attn::model;
    Recipe recipe;
    const auto written = [&](const Positions& positions) {
        recipe.attention.positions = positions;
        EXPECT_EQ(attn::io::parse_recipe(recipe_text(recipe)).attention, recipe.attention);
        return recipe_json(recipe)["attention"]["positions"].dump();
    };
    EXPECT_EQ(written({.kind = PositionKind::sinusoidal}), R"({"kind":"sinusoidal"})");
    EXPECT_EQ(written({.kind = PositionKind::alibi}), R"({"kind":"alibi"})");
    EXPECT_EQ(written({.kind = PositionKind::rope}), R"({"kind":"rope"})");
    EXPECT_EQ(written({PositionKind::rope, {500, 6, attn::core::RopeStyle::interleaved}}),
              R"({"kind":"rope","base":500.0,"dim":6,"style":"interleaved"})");
}

TEST(RecipeJson, WritesEveryKindOfDraw)
{
    Recipe recipe;
    recipe.draws = {
        Seed{18446744073709551615ULL},
        Draw{.target = Target::embedding, .init = Initialisation::normal, .first = 0.5, .second = 0.1, .shape = {}, .take = {}},
        Draw{.target = Target::W_q,
             .first = -1,
             .second = 1,
             .side = Side::right,
             .shape = std::vector<attn::model::Length>{"H*d_k", attn::Index{3}},
             .take = {0, 2}},
        Draw{.target = Target::b_o, .init = Initialisation::linear, .shape = {}, .take = {}},
        Draw{.init = Initialisation::xavier,
             .shape = std::vector<attn::model::Length>{attn::Index{3}, attn::Index{4}},
             .take = {}},
        Draw{.target = Target::W_o, .init = Initialisation::identity, .side = Side::left, .shape = {}, .take = {}},
        Draw{.target = Target::W_k, .init = Initialisation::integers, .second = 1, .shape = {}, .take = {}},
        Draw{.target = Target::embedding, .init = Initialisation::xavier_normal, .second = 2, .padding_idx = 3},
        Draw{.target = Target::W_v, .init = Initialisation::kaiming_normal, .first = 0.5, .mode = attn::model::FanMode::out},
        Draw{.target = Target::b_v, .init = Initialisation::zeros, .head = 0},
        Draw{.init = Initialisation::multihead_attention},
        Draw{.init = Initialisation::multihead_attention, .bias = false, .add_bias_kv = true},
    };
    EXPECT_EQ(recipe_json(recipe)["draws"].dump(),
              R"([{"seed":18446744073709551615},{"tensor":"embedding","init":"normal","mean":0.5,"std":0.1},)"
              R"({"tensor":"W_q","init":"uniform","low":-1.0,"side":"right","shape":["H*d_k",3],"take":[0,2]},)"
              R"({"tensor":"b_o","init":"linear"},{"discard":true,"init":"xavier","shape":[3,4]},)"
              R"({"tensor":"W_o","init":"identity","side":"left"},{"tensor":"W_k","init":"integers","high":1.0},)"
              R"({"tensor":"embedding","init":"xavier_normal","gain":2.0,"padding_idx":3},)"
              R"({"tensor":"W_v","init":"kaiming_normal","a":0.5,"mode":"fan_out"},{"tensor":"b_v","init":"zeros","head":0},)"
              R"({"init":"multihead_attention"},{"init":"multihead_attention","bias":false,"add_bias_kv":true}])");
}

TEST(RecipeJson, WritesOptionsThatDifferFromTheDefault)
{
    Recipe recipe;
    recipe.generator = attn::model::Generator::numpy_pcg64;
    recipe.dtype = attn::Dtype::float64;
    recipe.rounding = attn::core::Rounding::step;
    recipe.dims.heads = 4;
    recipe.dims.d_v = 7;
    recipe.attention.causal = true;
    recipe.attention.window = attn::core::Window{2, -1};
    recipe.attention.scale = 0.5;
    recipe.attention.softcap = 30;
    recipe.attention.order = attn::model::ScoreOrder::key_query;
    recipe.query = {"is", "3"};
    recipe.verify = true;
    const Json json = recipe_json(recipe);
    EXPECT_EQ(json["generator"], "numpy-pcg64");
    EXPECT_EQ(json["dtype"], "float64");
    EXPECT_EQ(json["rounding"], "step");
    EXPECT_EQ(json["dims"].dump(), R"({"heads":4,"d_v":7})");
    EXPECT_EQ(json["attention"].dump(), R"({"causal":true,"window":[2,-1],"scale":0.5,"softcap":30.0,"scores":"KQ"})");
    EXPECT_EQ(json["query"].dump(), R"(["is","3"])");
    EXPECT_EQ(json["verify"], true);
    recipe.attention = {};
    recipe.attention.scale = 1;
    EXPECT_EQ(recipe_json(recipe)["attention"].dump(), R"({"scale":"none"})");
    recipe.attention = {};
    recipe.attention.mask = attn::model::FileTensor{"m.npy", "", ""};
    EXPECT_EQ(recipe_json(recipe)["attention"].dump(), R"({"mask":{"file":"m.npy"}})");
    recipe.attention.mask = attn::model::FileTensor{"m.npz", "m", std::string(64, '0')};
    EXPECT_EQ(recipe_json(recipe)["attention"]["mask"],
              Json::parse(R"({"file":"m.npz","name":"m","sha256":")" + std::string(64, '0') + R"("})"));
}

TEST(RecipeJson, WritesWhatIsPublishedExceptInAResult)
{
    attn::model::Result result = sample::two_words();
    Recipe& recipe = result.config();
    recipe.name = "n";
    recipe.published = {
        {.array = "weights",
         .at = {0, std::nullopt},
         .shape = {2, 2},
         .values = {"0.10", "0.90", "1.5e-02", "nan"},
         .printed = true,
         .units = 1,
         .dtype = attn::Dtype::float64},
        {.array = "W_q", .at = {0, 1, 2}, .shape = {}, .values = {"0.250"}, .rtol = 2e-5, .atol = 1e-6, .dtype = {}},
        {.array = "masked_scores", .at = {}, .shape = {2}, .values = {"1", "null"}, .dtype = {}},
        {.array = "masked_scores", .at = {}, .shape = {2}, .values = {"1.0", "null"}, .printed = true, .dtype = {}},
        {.array = "weights",
         .at = {0},
         .shape = {2, 2},
         .values = {"0.5", "0.500000", "0.25", "0.75"},
         .printed = true,
         .digits = attn::math::PrintedDigits{.fixed = 6, .scientific = {}},
         .dtype = {}},
        {.array = "context", .at = {}, .shape = {6, 28}, .values = {}, .dtype = {}},
        {.array = "tokens", .at = {}, .shape = {2}, .values = {"null", "7"}, .dtype = {}},
        {.array = "vocabulary", .at = {}, .shape = {2, 2}, .values = {"be", "0", "to", "1"}, .dtype = {}},
    };
    recipe.precision = {{"context", 0, 1e-6}};
    const std::string text = recipe_text(recipe);
    EXPECT_EQ(text.substr(text.find("  \"published\"")), R"(  "published": [
    {"array": "weights", "at": [0, null], "values": [["0.10", "0.90"], ["1.5e-02", "nan"]], "units": 1.0, "dtype": "float64"},
    {"array": "W_q", "at": [0, 1, 2], "values": 0.250, "rtol": 2e-05, "atol": 1e-06},
    {"array": "masked_scores", "values": [1, null]},
    {"array": "masked_scores", "values": ["1.0", null]},
    {"array": "weights", "at": [0], "values": "[[0.5, 0.500000], [0.25, 0.75]]"},
    {"array": "context", "shape": [6, 28]},
    {"array": "tokens", "values": ["null", "7"]},
    {"array": "vocabulary", "values": {"be": 0, "to": 1}}
  ],
  "precision": [
    {"array": "context", "rtol": 0.0, "atol": 1e-06}
  ]
}
)");
    EXPECT_EQ(recipe_text(attn::io::parse_recipe(text)), text);
    const std::string json = sample::text_of([&](auto& out) { attn::report::write_json(result, {}, out); });
    EXPECT_EQ(json.find("published"), std::string::npos);
    EXPECT_EQ(json.find("precision"), std::string::npos);
    EXPECT_NE(json.find(R"("name":"n")"), std::string::npos);
}

TEST(StepWith, ReplacesAValueAndWhatWentWithTheOldOne)
{
    namespace draw_field = attn::model::draw_field;
    using attn::Index;
    using attn::report::step_with;
    const Draw drawn{.target = Target::W_q, .init = Initialisation::uniform, .first = -1, .second = 2, .side = Side::right};
    EXPECT_EQ(step_with(drawn, {{&draw_field::low, 0.5}}),
              R"({"tensor":"W_q","init":"uniform","high":2.0,"side":"right","low":0.5})");
    EXPECT_EQ(step_with(drawn, {{&draw_field::init, static_cast<Index>(Initialisation::normal)}}),
              R"({"tensor":"W_q","side":"right","init":"normal"})");
    const attn::model::Literal numbers{.shape = {1, 2}, .values = {1, 2}};
    EXPECT_EQ(step_with(drawn, {{&draw_field::values, numbers}}), R"({"tensor":"W_q","side":"right","values":[[1.0,2.0]]})");
    const Draw stated{.target = Target::W_q, .side = Side::right, .values = numbers};
    EXPECT_EQ(step_with(stated, {{&draw_field::init, static_cast<Index>(Initialisation::zeros)}}),
              R"({"tensor":"W_q","side":"right","init":"zeros"})");
    EXPECT_EQ(step_with(Seed{3}, {{&draw_field::seed, std::uint64_t{4}}}), R"({"seed":4})");
}

TEST(StepWith, WritesWhatDoesNotFitForTheReaderToRefuse)
{
    namespace draw_field = attn::model::draw_field;
    const Draw drawn{.target = Target::W_q, .init = Initialisation::uniform};
    EXPECT_EQ(attn::report::step_with(drawn, {{&draw_field::deviation, 2.0}}),
              R"({"tensor":"W_q","init":"uniform","std":2.0})");
}

} // namespace
