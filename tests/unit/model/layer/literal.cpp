#include "attn/model/layer/literal.hpp"

#include "unit/error_of.hpp"
#include "unit/model/layer/small_layers.hpp"

#include <gtest/gtest.h>

namespace {

using namespace attn::model;
using attn::Dtype;
using attn::ElementType;
using attn::Index;
using attn::Shape;

Draw stated(Target target, const Shape& shape, std::optional<Side> side = {})
{
    Draw draw{.target = target, .side = side};
    draw.values =
        Literal{.shape = shape, .values = std::vector<double>(static_cast<std::size_t>(attn::element_count(shape)), 1)};
    return draw;
}

Recipe recipe_of_draws(std::initializer_list<Draw> draws, Dims dims = {})
{
    Recipe recipe;
    recipe.dims = dims;
    recipe.draws.assign(draws.begin(), draws.end());
    return recipe;
}

TEST(DimsOf, FollowFromStatedShapesWhereTheRecipeLeavesThemOut)
{
    const Recipe one = recipe_of_draws({stated(Target::embedding, {7, 3}), stated(Target::W_q, {2, 3}),
                                        stated(Target::W_k, {2, 3}), stated(Target::W_v, {3, 5}, Side::right)});
    EXPECT_EQ(dims_of(one), (Dims{.embed_dim = 3, .d_k = 2, .d_v = 5, .vocab_size = 7}));
    const Recipe stacks = recipe_of_draws(
        {stated(Target::W_q, {4, 3, 2}, Side::right), stated(Target::W_k, {2, 2, 3}), stated(Target::W_v, {2, 6, 3})});
    EXPECT_EQ(dims_of(stacks), (Dims{.embed_dim = 3, .heads = 4, .kv_heads = 2, .d_k = 2, .d_v = 6}));
    const Recipe wide =
        recipe_of_draws({stated(Target::W_q, {8, 3}), stated(Target::W_k, {4, 3}), stated(Target::W_v, {10, 3})}, {.heads = 4});
    EXPECT_EQ(dims_of(wide), (Dims{.embed_dim = 3, .heads = 4, .kv_heads = 2, .d_k = 2, .d_v = 5}));
}

TEST(DimsOf, AreThoseOfTheRecipeWhereItSaysThem)
{
    const Dims said{.embed_dim = 4, .heads = 2, .kv_heads = 1, .d_k = 9, .d_v = 8, .vocab_size = 6};
    const Recipe recipe =
        recipe_of_draws({stated(Target::embedding, {7, 3}), stated(Target::W_q, {2, 3}), stated(Target::W_v, {2, 3})}, said);
    EXPECT_EQ(dims_of(recipe), said);
    EXPECT_EQ(dims_of(default_recipe()), default_recipe().dims);
}

TEST(Literal, IsRoundedOnceToTheType)
{
    const Literal literal{.shape = {1, 2}, .values = {0.1, -3}};
    EXPECT_EQ(attn::load<float>(checked_view(literal, Dtype::float32, "x")).values, (std::vector<float>{0.1F, -3}));
    EXPECT_EQ(attn::load<double>(checked_view(literal, Dtype::float64, "x")).values, (std::vector<double>{0.1, -3}));
}

TEST(Literal, ThatATypeDoesNotHoldIsRefused)
{
    const Literal integer{.shape = {2, 1}, .values = {1, 16777217}, .integers = {1}};
    EXPECT_EQ(error_of([&] { (void)checked_view(integer, Dtype::float32, "x"); }),
              "x at (1, 0): got 16777217, an integer that float32 does not hold; allowed: one that it holds, such as 16777216, "
              "or --dtype float64");
    EXPECT_EQ(error_of([&] { (void)checked_view(integer, Dtype::float64, "x"); }), "no error");
    EXPECT_EQ(error_of([&] { (void)checked_view({.shape = {1}, .values = {16777217}}, Dtype::float32, "x"); }), "no error");
    EXPECT_EQ(error_of([&] { (void)checked_view({.shape = {1}, .values = {-1e39}}, Dtype::float32, "x"); }),
              "x at (0,): got -1e+39, which is beyond float32; allowed: up to 3.4e38, or --dtype float64");
}

TEST(Literal, MovesNoStream)
{
    constexpr ModelDims dims{.V = 6, .T = 5, .S = 5, .D = 3, .H = 1, .H_kv = 1, .d_k = 2, .d_v = 2};
    const Draw drawn{.target = Target::W_k};
    Recipe recipe =
        recipe_of_draws({stated(Target::embedding, {6, 3}), stated(Target::W_q, {2, 3}), drawn, stated(Target::W_v, {2, 3})});
    recipe.draws.insert(recipe.draws.begin() + 1, Seed{4});
    Recipe alone = recipe;
    std::swap(alone.draws[1], alone.draws[0]);
    EXPECT_EQ(small::drawn<float>(recipe, {.dims = dims}).parameters[2].tensor.values,
              small::drawn<float>(alone, {.dims = dims}).parameters[2].tensor.values);
}

TEST(StatedMask, IsOfTheTypeThatAFileWouldHave)
{
    Recipe recipe;
    EXPECT_FALSE(stated_mask(recipe));
    recipe.attention.mask_values = Literal{.shape = {2}, .values = {0, 1}, .truths = true};
    EXPECT_EQ(stated_mask(recipe)->type, ElementType::boolean);
    EXPECT_EQ(stated_mask(recipe)->bytes.size(), 2U);
    recipe.attention.mask_values = Literal{.shape = {1}, .values = {-0.5}};
    EXPECT_EQ(attn::load<double>(stated_mask(recipe)->view()).values, std::vector<double>{-0.5});
}

} // namespace
