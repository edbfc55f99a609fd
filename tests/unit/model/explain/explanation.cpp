#include "attn/model/explain/explanation.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/view.hpp"
#include "unit/error_of.hpp"
#include "unit/model/recipe/option_names.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

namespace model = attn::model;
using attn::ErrorKind;
using model::Target;

/// Two words that are the unit vectors, and queries, keys and values that are the words themselves.
model::Recipe unit_vectors()
{
    model::Recipe recipe;
    recipe.input = model::PositionsInput{.count = 2, .labels = {"left", "right"}};
    recipe.dims = {.embed_dim = 2, .d_k = 2, .d_v = 2};
    recipe.draws = {model::Seed{1}};
    for (const Target target : {Target::embeddings, Target::W_q, Target::W_k, Target::W_v}) {
        recipe.draws.emplace_back(model::Draw{.target = target, .init = model::Initialisation::identity});
    }
    recipe.attention.scale = 1;
    return recipe;
}

model::Explanation explained(const model::Recipe& recipe, const model::Question& question = {})
{
    model::RunSettings settings;
    settings.origin = model::options_alone();
    return model::explain(model::run_for({question}, recipe, settings), question, settings);
}

using Numbers = std::vector<double>;

TEST(Explanation, OfTwoUnitVectorsCanBeFollowedByHand)
{
    const model::Explanation e = explained(unit_vectors());
    EXPECT_EQ(e.x, (Numbers{1, 0}));
    EXPECT_EQ(e.query, (Numbers{1, 0}));
    ASSERT_EQ(e.keys.size(), 2U);
    const model::ExplainedKey& left = e.keys[0];
    const model::ExplainedKey& right = e.keys[1];
    EXPECT_EQ(left.word, "left");
    EXPECT_EQ(left.products, (Numbers{1, 0}));
    EXPECT_EQ(right.products, (Numbers{0, 0}));
    EXPECT_EQ(left.score, 1);
    EXPECT_EQ(right.score, 0);
    EXPECT_EQ(e.maximum, 1);
    EXPECT_EQ(left.exponential, 1);
    EXPECT_NEAR(right.exponential, 0.36787944, 1e-8); // 1/e
    EXPECT_NEAR(e.sum, 1.36787944, 1e-8);
    EXPECT_NEAR(left.weight, 0.73105858, 1e-7); // e / (e + 1)
    EXPECT_NEAR(right.weight, 0.26894142, 1e-7);
    EXPECT_EQ(left.weighted_value, (Numbers{left.weight, 0}));
    EXPECT_EQ(e.context, (Numbers{left.weight, right.weight}));
    EXPECT_FALSE(left.capped || left.masked);
    EXPECT_EQ(e.config.query, (std::vector<std::string>{"0"}));
}

TEST(Explanation, AHiddenKeyHasAReasonAndNoShare)
{
    model::Recipe recipe = unit_vectors();
    recipe.attention.causal = true;
    const model::Explanation e = explained(recipe);
    EXPECT_EQ(e.keys[0].hidden, model::Hidden::no);
    EXPECT_EQ(e.keys[1].hidden, model::Hidden::causal);
    EXPECT_EQ(*e.keys[1].masked, -INFINITY);
    EXPECT_EQ(e.keys[1].exponential, 0);
    EXPECT_EQ(e.keys[1].weighted_value, (Numbers{0, 0}));
    EXPECT_EQ(e.context, (Numbers{1, 0}));

    recipe.attention.causal = false;
    recipe.attention.window = attn::core::Window{0, 0};
    EXPECT_EQ(explained(recipe, {.position = 1}).keys[0].hidden, model::Hidden::window);
}

TEST(Explanation, ARowWithoutKeysHasNoSum)
{
    model::Recipe recipe = unit_vectors();
    recipe.attention.mask = model::FileTensor{"mask.npy", "", ""};
    attn::StoredTensor stored("mask", attn::ElementType::boolean, {2, 2}); // all zeros: nothing is seen
    model::RunSettings settings;
    settings.mask = stored.view();
    const model::Explanation e = model::explain(model::run_for({{}}, recipe, settings), {}, settings);
    EXPECT_EQ(e.sum, 0);
    EXPECT_EQ(e.maximum, -INFINITY);
    EXPECT_EQ(e.keys[0].hidden, model::Hidden::mask);
    EXPECT_EQ(e.keys[0].mask, -INFINITY);
    EXPECT_EQ(e.context, (Numbers{0, 0}));
}

TEST(Explanation, AnOverflowedScoreCountsOne)
{
    model::Recipe recipe = unit_vectors();
    recipe.attention.scale = 1e39;
    const model::Explanation e = explained(recipe);
    EXPECT_EQ(e.maximum, INFINITY);
    EXPECT_EQ(e.keys[0].exponential, 1);
    EXPECT_EQ(e.keys[1].exponential, 0);
    EXPECT_EQ(e.sum, 1);
    EXPECT_EQ(e.warnings.size(), 1U);
}

TEST(Explanation, KeysTimesQueriesTakesTheWordsKeyAndTheOthersQueries)
{
    model::Recipe recipe = unit_vectors();
    std::get<model::Draw>(recipe.draws[2]).init = model::Initialisation::uniform; // W_q
    recipe.attention.order = model::ScoreOrder::key_query;
    const model::Explanation e = explained(recipe, {.position = 1});
    EXPECT_TRUE(e.swapped);
    EXPECT_EQ(e.query, (Numbers{0, 1}));
    EXPECT_EQ(e.keys[0].products[1], e.keys[0].score);
}

TEST(Explanation, IsOfOneQueryWord)
{
    model::Recipe recipe = model::default_recipe();
    recipe.input = model::SentenceInput{.sentence = "to be or not to be", .cross = {}};
    const auto ask = [&](std::vector<std::string> query) {
        recipe.query = std::move(query);
        return model::query_position(recipe, model::options_alone());
    };
    EXPECT_EQ(ask({"or"}), 2);
    EXPECT_EQ(ask({"5"}), 5);
    EXPECT_EQ(ask({}), 0); // the first word
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { static_cast<void>(ask({"be"})); }),
              "--query: got 'be', 2 positions; allowed: one of them: 1 'be', 5 'be'");
}

/// Two heads with one key head for both, and biases. The projections stand on one side, W_o on the other.
model::Recipe biased(model::Side side, bool one_matrix)
{
    model::Recipe recipe;
    recipe.input = model::SentenceInput{.sentence = "to be or not", .cross = {}};
    recipe.dims = {.embed_dim = 6, .heads = 2, .kv_heads = 1, .d_k = 4, .d_v = 3};
    recipe.draws = {model::Seed{1}};
    const bool left = side == model::Side::left;
    for (const Target target : {Target::embedding, Target::W_q, Target::W_k, Target::W_v, Target::W_o, Target::b_q, Target::b_k,
                                Target::b_v, Target::b_o}) {
        model::Draw draw{.target = target, .init = model::Initialisation::normal};
        draw.side = (target == Target::W_o) == left ? model::Side::right : model::Side::left;
        if (target == Target::W_q && one_matrix) {
            const model::Length outputs = "H*d_k";
            draw.shape = left ? std::vector<model::Length>{outputs, "D"} : std::vector<model::Length>{"D", outputs};
        }
        recipe.draws.emplace_back(std::move(draw));
    }
    return recipe;
}

/// Every number of the query, of a key, its value and the output comes out as the result has it.
void expect_projections(const model::Recipe& recipe, const model::Question& asked)
{
    for (attn::Index i = 0; i < 6; ++i) {
        model::Question question = asked;
        question.component = i;
        const model::Explanation e = explained(recipe, question);
        const auto expect = [&](Target W, const Numbers& numbers) {
            const model::Projected* made = e.projection(W);
            ASSERT_EQ(made != nullptr, i < std::ssize(numbers)) << name_of(W) << i;
            if (made != nullptr) {
                EXPECT_EQ(made->turn ? made->turn->value : made->value, numbers[static_cast<std::size_t>(i)])
                    << name_of(W) << i;
            }
        };
        const model::ExplainedKey& key = e.keys[static_cast<std::size_t>(e.key.value_or(0))];
        expect(e.swapped ? Target::W_k : Target::W_q, e.query);
        if (e.key) {
            expect(e.swapped ? Target::W_q : Target::W_k, key.key);
            expect(Target::W_v, key.value);
        }
        expect(Target::W_o, e.output);
    }
}

TEST(Explanation, ProjectionsMakeTheNumbersOfTheResult)
{
    for (const model::Side side : {model::Side::left, model::Side::right}) {
        for (const bool one_matrix : {false, true}) {
            model::Recipe recipe = biased(side, one_matrix);
            const model::Question question{.position = 2, .head = 1, .key = "not"};
            expect_projections(recipe, question);
            const model::Explanation e = explained(recipe, question);
            EXPECT_EQ(e.projections.size(), 4U);
            EXPECT_TRUE(e.projection(Target::W_q)->bias);
            EXPECT_EQ(e.projection(Target::W_q)->side, side);
            EXPECT_EQ(e.projection(Target::W_k)->position, 3);
            for (const auto style : {attn::core::RopeStyle::half, attn::core::RopeStyle::interleaved}) {
                recipe.attention.positions = model::Positions{.kind = model::PositionKind::rope, .rope = {.style = style}};
                expect_projections(recipe, question);
            }
            recipe.attention.positions = model::Positions{.kind = model::PositionKind::sinusoidal};
            expect_projections(recipe, question);
            recipe.attention.positions = {};
            recipe.rounding = attn::core::Rounding::step;
            expect_projections(recipe, question);
            recipe.dtype = attn::Dtype::float64;
            expect_projections(recipe, question);
        }
    }
}

TEST(Explanation, ProjectionsReadWhatTheKeysRead)
{
    model::Recipe recipe = biased(model::Side::left, false);
    recipe.dims.kv_heads = 2;
    recipe.dims.key_dim = 3;
    recipe.dims.value_dim = 5;
    recipe.draws.emplace_back(model::Draw{.target = Target::key_embedding});
    recipe.draws.emplace_back(model::Draw{.target = Target::value_embedding});
    recipe.attention.positions = model::Positions{.kind = model::PositionKind::sinusoidal};
    expect_projections(recipe, {.position = 2, .head = 1, .key = "not"});
    const model::Explanation e = explained(recipe, {.position = 2, .head = 1, .key = "not"});
    EXPECT_EQ(e.projection(Target::W_k)->x.size(), 3U);
    EXPECT_EQ(e.projection(Target::W_v)->x.size(), 5U);
    recipe.input = model::SentenceInput{.sentence = "to be or not", .cross = "be not"};
    expect_projections(recipe, {.position = 3, .head = 0, .key = "not"});

    recipe = biased(model::Side::right, false);
    recipe.dims.kv_heads = 2;
    recipe.attention.order = model::ScoreOrder::key_query;
    expect_projections(recipe, {.position = 2, .head = 1, .key = "not"});
}

TEST(Explanation, WithoutAKeyTheStrongestWordIsProjected)
{
    model::Recipe recipe = unit_vectors();
    EXPECT_EQ(explained(recipe, {.position = 1}).projection(Target::W_k)->position, 1);
    EXPECT_EQ(explained(recipe, {.position = 0, .key = "right"}).projection(Target::W_v)->position, 1);
    EXPECT_EQ(explained(recipe).projection(Target::W_o), nullptr);
}

TEST(Explanation, HeadsAndKeysThatAreNotThereAreRefused)
{
    const auto ask = [](attn::Index head, std::optional<std::string> key) {
        static_cast<void>(explained(unit_vectors(), {.position = 0, .head = head, .key = std::move(key)}));
    };
    EXPECT_EQ(error_of(ErrorKind::usage, [] { static_cast<void>(explained(unit_vectors(), {.component = 2})); }),
              "--component: got 2; allowed: 0 to 1; the longest of query, value and output has 2 numbers");
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { ask(1, {}); }),
              "--head: got 1; allowed: 0, there is one head; --heads computes more");
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { ask(0, "2"); }), "--key: got position '2'; allowed: 0 to 1");
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { ask(0, "rihgt"); }),
              "--key: got the word 'rihgt'; allowed: a word of the input ('left', 'right') or a position, 0 to 1; "
              "did you mean 'right'?");
}

TEST(Explanation, TermsThatDoNotFitAreRefused)
{
    model::RunSettings settings;
    const std::vector<std::string> words{"left", "right"};
    settings.memory_limit = 100;
    const auto ask = [&] { model::require_explainable({}, {.tokens = words, .keys = words, .d_k = 2, .d_v = 2}, settings); };
    EXPECT_EQ(error_of(ErrorKind::too_large, ask),
              "the terms of 'left': got 2 keys, which need 128 bytes; allowed: the 100 bytes that are free");
}

} // namespace
