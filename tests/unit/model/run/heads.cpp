#include "attn/model/run/heads.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/model/recipe/option_names.hpp"
#include "unit/model/run/run_all.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

namespace model = attn::model;
using attn::Index;
using attn::Shape;
using attn::Tensor;
using model::Item;
using Indices = std::vector<Index>;

model::Recipe recipe_of_heads(Index heads)
{
    model::Recipe recipe = model::default_recipe();
    recipe.input = model::SentenceInput{.sentence = "Life is short, eat dessert first", .cross = {}};
    recipe.dims.heads = heads;
    return recipe;
}

/// nn.MultiheadAttention(8, 2) and then torch.randn(1, 5, 8), after torch.manual_seed(0).
model::Recipe multihead_attention()
{
    using model::Draw;
    using model::Initialisation;
    using model::Target;
    const double bound = std::sqrt(6.0 / 32);
    model::Recipe recipe;
    recipe.input = model::PositionsInput{.count = 5, .labels = {}};
    recipe.dims = {.embed_dim = 8, .heads = 2};
    recipe.draws = {model::Seed{0}, Draw{.target = Target::W_o, .init = Initialisation::linear, .side = model::Side::left},
                    Draw{.shape = std::vector<model::Length>{8}}};
    for (const Target target : {Target::W_q, Target::W_k, Target::W_v}) {
        recipe.draws.emplace_back(Draw{.target = target, .first = -bound, .second = bound});
    }
    recipe.draws.emplace_back(Draw{.target = Target::embeddings, .init = Initialisation::normal});
    return recipe;
}

TEST(Heads, OneAloneIsThatOfAll)
{
    model::Recipe recipe = recipe_of_heads(4);
    const model::Result whole = run_all(recipe);
    recipe.head = {2};
    const model::Result one = run_all(recipe);
    EXPECT_EQ(one.front().heads, Indices{2});
    EXPECT_EQ(one.front().key_heads, Indices{2});
    EXPECT_EQ(one.front().name_of_head(0), "head 2");
    EXPECT_EQ(floats(one, "weights").shape, (Shape{1, 6, 6}));
    for (const char* name : {"queries", "keys", "values", "scores", "scaled_scores", "weights", "head_context"}) {
        EXPECT_EQ(floats(one, name).matrix(), floats(whole, name).matrix(2)) << name;
    }
    EXPECT_EQ(floats(one, "entropy").matrix(), floats(whole, "entropy").matrix().row(2));
    EXPECT_EQ(floats(one, "context").values, floats(whole, "context").values);
}

TEST(Heads, KeysAndValuesAreThoseThatTheyRead)
{
    model::Recipe recipe = recipe_of_heads(8);
    recipe.dims.kv_heads = 4;
    const model::Result whole = run_all(recipe);
    recipe.head = {5, 2, 3, 5};
    const model::Result some = run_all(recipe);
    EXPECT_EQ(some.front().heads, (Indices{2, 3, 5}));
    EXPECT_EQ(some.front().key_heads, (Indices{1, 2}));
    EXPECT_EQ(some.front().head_at(1, "keys"), 2);
    EXPECT_EQ(some.front().head_at(1, "W_q"), 1); // parameters are whole
    EXPECT_EQ(floats(some, "keys").matrix(1), floats(whole, "keys").matrix(2));
    EXPECT_EQ(floats(some, "weights").matrix(2), floats(whole, "weights").matrix(5));
}

// The numbers that tests/oracle/averaged_weights.py prints.
TEST(Heads, TheMeanIsWhatMultiheadAttentionReturns)
{
    constexpr std::array expected{
        0.237371773F,  0.108554929F, 0.104939796F, 0.200939596F, 0.348193884F, 0.192875877F, 0.205153018F,
        0.186211258F,  0.218699664F, 0.197060212F, 0.175152928F, 0.247807264F, 0.212887675F, 0.18781054F,
        0.176341608F,  0.232705772F, 0.231748268F, 0.146934927F, 0.199289367F, 0.189321697F, 0.156245619F,
        0.0882768482F, 0.403745413F, 0.135488391F, 0.216243654F,
    };
    for (const attn::core::Rounding rounding : {attn::core::Rounding::stage, attn::core::Rounding::step}) {
        model::Recipe recipe = multihead_attention();
        recipe.head = {model::mean_of_heads};
        recipe.rounding = rounding;
        const model::Result result = model::run(recipe);
        const Tensor<float>& mean = floats(result, "weights");
        ASSERT_EQ(mean.shape, (Shape{1, 5, 5}));
        EXPECT_EQ(result.front().name_of_head(0), "mean of heads");
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_NEAR(mean.values[i], expected[i], 4e-7 * static_cast<double>(expected[i])) << i;
        }
    }
}

TEST(Heads, TheMeanAddsInTheOrderOfHeads)
{
    const auto mean_of = [](std::vector<float> weights, attn::core::Rounding rounding) {
        const auto count = static_cast<Index>(weights.size());
        std::vector<model::Array> arrays{{"weights", Tensor<float>({count, 1, 1}, std::move(weights))},
                                         {"scores", Tensor<float>({count, 1, 1})},
                                         {"context", Tensor<float>({1, count})}};
        model::keep_heads(arrays, {{model::mean_of_heads}, {0}, rounding});
        EXPECT_EQ(arrays.size(), 2U); // no scores
        EXPECT_EQ(arrays.back().name, "context");
        return std::get<Tensor<float>>(arrays.front().tensor).values.front();
    };
    const float tiny = std::ldexp(1.0F, -24); // half a unit in the last place of 1
    EXPECT_EQ(mean_of({1, tiny, tiny, tiny}, attn::core::Rounding::step), 0.25F);
    EXPECT_EQ(mean_of({tiny, tiny, tiny, 1}, attn::core::Rounding::step), 0.25F + tiny);
    EXPECT_EQ(mean_of({1, tiny, tiny, tiny}, attn::core::Rounding::stage), 0.25F + tiny);
}

TEST(Heads, ThoseThatAreNotThereAreTheFaultOfWhoNamesThem)
{
    const auto refusal = [](const model::Origin& origin, attn::ErrorKind kind) {
        return error_of(kind, [&] { (void)model::heads_of({1, 4}, 4, origin); });
    };
    EXPECT_EQ(refusal(model::options_alone(), attn::ErrorKind::usage), "--head: got 4; allowed: 0 to 3");
    EXPECT_EQ(refusal({}, attn::ErrorKind::data), "head: got 4; allowed: 0 to 3");
    EXPECT_EQ(model::heads_of({3, 0, 3}, 4, {}), (Indices{0, 3}));
    EXPECT_EQ(model::heads_of({model::mean_of_heads}, 4, {}), Indices{model::mean_of_heads});
}

} // namespace
