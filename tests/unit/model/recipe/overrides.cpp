#include "attn/model/recipe/overrides.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

namespace {

namespace model = attn::model;
namespace field = attn::model::field;
namespace draw_field = attn::model::draw_field;
using attn::Index;
using model::Draw;
using model::Overrides;
using model::Recipe;
using model::Seed;
using model::Target;

const Draw& draw_of(const Recipe& recipe, Target target)
{
    for (const model::Step& step : recipe.draws) {
        const auto* draw = std::get_if<Draw>(&step);
        if (draw != nullptr && draw->target == target) {
            return *draw;
        }
    }
    throw std::logic_error("not drawn");
}

Recipe with(const Overrides& overrides)
{
    return model::apply(model::default_recipe(), overrides);
}

TEST(Apply, WithoutOverridesChangesNothingButDropsPublishedNumbers)
{
    Recipe recipe = model::default_recipe();
    recipe.published.emplace_back();
    const Recipe applied = model::apply(recipe, {});
    EXPECT_TRUE(applied.published.empty());
    EXPECT_EQ(applied.draws, recipe.draws);
    EXPECT_FALSE(model::has_output_projection(applied));
}

TEST(Apply, AddsAnOutputProjectionWithMoreThanOneHeadUnlessToldOtherwise)
{
    Overrides overrides;
    overrides.set(field::heads, 2);
    EXPECT_TRUE(model::has_output_projection(with(overrides)));
    EXPECT_EQ(std::get<Draw>(with(overrides).draws.back()).target, Target::W_o);
    overrides.set(field::output_projection, false);
    EXPECT_FALSE(model::has_output_projection(with(overrides)));
    overrides.set(field::heads, 1);
    overrides.set(field::output_projection, true);
    EXPECT_TRUE(model::has_output_projection(with(overrides)));
}

TEST(Apply, DropsTheOutputProjectionOfARecipeThatIsGivenOneHead)
{
    Overrides overrides;
    overrides.set(field::heads, 4);
    const Recipe four = with(overrides);
    EXPECT_TRUE(model::has_output_projection(model::apply(four, {})));
    overrides.set(field::heads, 1);
    EXPECT_FALSE(model::has_output_projection(model::apply(four, overrides)));
}

TEST(Apply, ReplacesEverySeedAndTheInitialisationOfProjectionsOnly)
{
    Recipe recipe = model::default_recipe();
    recipe.draws.insert(recipe.draws.begin() + 2, Seed{5});
    Overrides overrides;
    overrides.set(draw_field::seed, std::uint64_t{9});
    overrides.set(draw_field::init, static_cast<Index>(model::Initialisation::xavier));
    const Recipe applied = model::apply(recipe, overrides);
    EXPECT_EQ(std::get<Seed>(applied.draws[0]).value, 9U);
    EXPECT_EQ(std::get<Seed>(applied.draws[2]).value, 9U);
    EXPECT_EQ(draw_of(applied, Target::embedding).init, model::Initialisation::normal);
    EXPECT_EQ(draw_of(applied, Target::W_v).init, model::Initialisation::xavier);
}

std::vector<std::pair<Target, model::Initialisation>> draws_of(const Recipe& recipe)
{
    std::vector<std::pair<Target, model::Initialisation>> draws;
    for (const model::Step& step : recipe.draws) {
        if (const auto* draw = std::get_if<Draw>(&step)) {
            draws.emplace_back(draw->target, draw->init);
        }
    }
    return draws;
}

using Draws = std::vector<std::pair<Target, model::Initialisation>>;
constexpr auto whole = model::Initialisation::multihead_attention;

TEST(Apply, DrawsAWholeLayerInThePlaceOfAllItsTensors)
{
    Overrides overrides;
    overrides.set(draw_field::init, static_cast<Index>(whole));
    const Draws wanted{{Target::embedding, model::Initialisation::normal}, {Target::none, whole}};
    EXPECT_EQ(draws_of(with(overrides)), wanted);
    for (const Index heads : {2, 1}) {
        overrides.set(field::heads, heads);
        EXPECT_EQ(draws_of(with(overrides)), wanted);
        EXPECT_TRUE(model::has_output_projection(with(overrides)));
    }
    EXPECT_EQ(draws_of(model::apply(with(overrides), overrides)), wanted);
    overrides.set(field::output_projection, false);
    EXPECT_THROW((void)with(overrides), attn::Error);
}

TEST(Apply, TakesAWholeLayerApartForAnotherInitialisation)
{
    Recipe recipe = model::default_recipe();
    recipe.draws.resize(2);
    recipe.draws.emplace_back(Draw{.init = whole, .bias = false, .add_bias_kv = true});
    Overrides overrides;
    overrides.set(draw_field::init, static_cast<Index>(model::Initialisation::uniform));
    using enum model::Initialisation;
    EXPECT_EQ(draws_of(model::apply(recipe, overrides)), (Draws{{Target::embedding, normal},
                                                                {Target::W_o, uniform},
                                                                {Target::W_q, uniform},
                                                                {Target::W_k, uniform},
                                                                {Target::W_v, uniform},
                                                                {Target::bias_k, xavier_normal},
                                                                {Target::bias_v, xavier_normal}}));
    Overrides file;
    file.set(field::parameters_file, "f");
    EXPECT_EQ(draws_of(model::apply(recipe, file)), (Draws{{Target::embedding, normal}}));
}

TEST(Apply, KeepsTheTokenizerOfTheRecipeForANewSentence)
{
    Recipe recipe = model::default_recipe();
    recipe.input = model::SentenceInput{"old", "other", model::Tokenizer::words, true};
    Overrides overrides;
    overrides.set(field::sentence, "new");
    EXPECT_EQ(model::apply(recipe, overrides).input,
              model::Input(model::SentenceInput{"new", {}, model::Tokenizer::words, true}));
    overrides.set(field::cross, "second");
    overrides.set(field::tokenizer, static_cast<Index>(model::Tokenizer::document));
    EXPECT_EQ(model::apply(recipe, overrides).input,
              model::Input(model::SentenceInput{"new", "second", model::Tokenizer::document, true}));
}

TEST(Apply, TakesProjectionsAndDimensionsFromAFile)
{
    Overrides overrides;
    overrides.set(field::parameters_file, "f");
    overrides.set(field::prefix, "h.0");
    Recipe drawn = model::default_recipe();
    drawn.dims = {.embed_dim = 8, .heads = 2, .d_k = 3, .vocab_size = 9};
    drawn.draws.emplace_back(Draw{.target = Target::b_q});
    const Recipe applied = model::apply(drawn, overrides);
    EXPECT_EQ(applied.parameters, (model::FileParameters{.file = "f", .prefix = "h.0"}));
    EXPECT_EQ(applied.draws, (std::vector<model::Step>{drawn.draws[0], drawn.draws[1]})); // the seed and the embedding
    EXPECT_EQ(applied.dims, (model::Dims{.heads = 2, .vocab_size = 9}));
    EXPECT_FALSE(model::has_output_projection(applied)); // not before the file is loaded

    Recipe loaded = applied;
    loaded.dims = {.embed_dim = 8, .heads = 2, .kv_heads = 2, .d_k = 4, .d_v = 4, .vocab_size = 6};
    loaded.parameters->output_projection = true;
    EXPECT_TRUE(model::has_output_projection(model::apply(loaded, {})));
    EXPECT_EQ(model::apply(loaded, {}).dims, loaded.dims);
    EXPECT_EQ(model::apply(loaded, overrides).dims, (model::Dims{.heads = 2})); // of another file
    Overrides more;
    more.set(field::heads, 4);
    more.set(field::output_projection, false);
    EXPECT_EQ(model::apply(loaded, more).dims, (model::Dims{.embed_dim = 8, .heads = 4, .vocab_size = 6}));
    EXPECT_FALSE(model::has_output_projection(model::apply(loaded, more)));
    EXPECT_EQ(model::apply(loaded, more).draws, loaded.draws);
}

TEST(Apply, ReplacesIdsWithTheirLabels)
{
    Recipe labelled = model::default_recipe();
    labelled.input = model::IdsInput{{1, 2, 3}, {"a", "b", "c"}};
    Overrides overrides;
    overrides.set(field::ids, std::vector<Index>{4, 5});
    EXPECT_EQ(model::apply(labelled, overrides).input, model::Input(model::IdsInput{{4, 5}, {}}));
    overrides.set(field::labels_of_ids, std::vector<std::string>{"d", "e"});
    EXPECT_EQ(model::apply(labelled, overrides).input, model::Input(model::IdsInput{{4, 5}, {"d", "e"}}));
}

TEST(Apply, LaysOneDetailOfAFileBesideTheOthers)
{
    Recipe masked = model::default_recipe();
    masked.attention.mask = model::FileTensor{"old.npz", "m", std::string(64, 'a')};
    masked.attention.positions = model::Positions{.kind = model::PositionKind::rope, .rope = {.base = 5, .dim = 4}};
    Overrides overrides;
    overrides.set(field::mask_file, "new.npy");
    overrides.set(field::positions, static_cast<Index>(model::PositionKind::rope));
    overrides.set(field::rope_dim, 2);
    const Recipe applied = model::apply(masked, overrides);
    EXPECT_EQ(applied.attention.mask, (model::FileTensor{"new.npy", "", ""}));
    EXPECT_EQ(applied.attention.positions, (model::Positions{.kind = model::PositionKind::rope, .rope = {.dim = 2}}));
}

TEST(Apply, TakesPositionsAway)
{
    Recipe placed = model::default_recipe();
    placed.attention.positions = model::Positions{.kind = model::PositionKind::alibi};
    EXPECT_EQ(model::apply(placed, {}).attention.positions, placed.attention.positions);
    Overrides none;
    none.set(field::positions, {});
    EXPECT_FALSE(model::apply(placed, none).attention.positions.has_value());
}

TEST(Apply, RefusesTextOptionsBesideIds)
{
    Overrides overrides;
    overrides.set(field::ids, std::vector<Index>{1, 2});
    overrides.set(field::casefold, true);
    EXPECT_THROW((void)with(overrides), attn::Error);
}

TEST(Apply, RefusesASeedThatNumpyDoesNotTake)
{
    Overrides overrides;
    overrides.set(draw_field::seed, std::uint64_t{1} << 32U);
    EXPECT_NO_THROW((void)with(overrides));
    overrides.set(field::generator, static_cast<Index>(model::Generator::numpy));
    EXPECT_THROW((void)with(overrides), attn::Error);
}

TEST(Apply, RefusesAFieldOfAPartThatIsNotThere)
{
    const auto refusal = [](const model::FieldInfo& field, const model::FieldValue& value, const Recipe& recipe) {
        Overrides overrides;
        overrides.set(field, value);
        try {
            (void)model::apply(recipe, overrides);
        } catch (const attn::Error& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    Recipe recipe = model::default_recipe();
    EXPECT_EQ(refusal(field::dropout_seed, std::uint64_t{3}, recipe), "attention.dropout.seed requires ");
    EXPECT_EQ(refusal(field::words_file, "w", recipe), "embeddings.words.file requires ");
    EXPECT_EQ(refusal(field::layout, Index{0}, recipe), "parameters.layout requires ");
    EXPECT_EQ(refusal(field::output_projection, true, recipe), "none");
    recipe.attention.dropout = {.p = 0.5};
    recipe.embeddings = {.file = "e.npy"};
    recipe.parameters = {.file = "p.npz"};
    EXPECT_EQ(refusal(field::dropout_seed, std::uint64_t{3}, recipe), "none");
    EXPECT_EQ(refusal(field::words_file, "w", recipe), "none");
    EXPECT_EQ(refusal(field::layout, Index{0}, recipe), "none");
}

TEST(Apply, GivesABatchToTheKindOfInputThatIsThere)
{
    Overrides overrides;
    overrides.set(field::batch_of_ids, 2); // which has the key of batch_of_positions
    EXPECT_THROW((void)with(overrides), attn::Error);
    Recipe recipe = model::default_recipe();
    recipe.input = model::PositionsInput{.count = 4, .labels = {}};
    EXPECT_EQ(std::get<model::PositionsInput>(model::apply(recipe, overrides).input).batch, 2);
    recipe.input = model::IdsInput{.ids = {0, 1}, .labels = {}};
    EXPECT_EQ(std::get<model::IdsInput>(model::apply(recipe, overrides).input).batch, 2);
    overrides.set(field::positions_count, 3);
    EXPECT_EQ(std::get<model::PositionsInput>(with(overrides).input), (model::PositionsInput{3, {}, 2}));
}

TEST(Apply, TakesAMaskOfNumbersInThePlaceOfAFile)
{
    Recipe recipe = model::default_recipe();
    recipe.attention.mask = {.file = "mask.npy", .name = {}, .sha256 = {}};
    Overrides overrides;
    overrides.set(field::mask_values, model::Literal{.shape = {1}, .values = {1}, .truths = true});
    const model::Attention attention = model::apply(recipe, overrides).attention;
    EXPECT_FALSE(attention.mask.has_value());
    EXPECT_EQ(attention.mask_values->values, std::vector<double>{1});
}

} // namespace
