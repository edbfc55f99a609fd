#include "attn/core/positions.hpp"
#include "attn/core/isa.hpp"

#include "attn/tensor/error.hpp"
#include "oracle/heads.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace {

using attn::Index;
using attn::Tensor;
using attn::core::Rope;
using attn::core::RopeStyle;

Tensor<double> normal(const attn::Shape& shape, unsigned seed)
{
    Tensor<double> tensor(shape);
    std::mt19937 engine(seed);
    std::normal_distribution<double> distribution;
    for (double& value : tensor.values) {
        value = distribution(engine);
    }
    return tensor;
}

TEST(Sinusoids, OfPositionZeroAreZeroAndOne)
{
    const auto X = attn::core::add_sinusoids(Tensor<float>({1, 5}, {1, 2, 3, 4, 5}));
    EXPECT_EQ(X.values, (std::vector<float>{1, 3, 3, 5, 5}));
}

TEST(Sinusoids, TurnSlowerFromPairToPair)
{
    const auto X = attn::core::add_sinusoids(Tensor<double>({3, 4}));
    for (Index p = 0; p < 3; ++p) {
        const auto position = static_cast<double>(p);
        EXPECT_NEAR(X.matrix()(p, 0), std::sin(position), 1e-15);
        EXPECT_NEAR(X.matrix()(p, 1), std::cos(position), 1e-15);
        EXPECT_NEAR(X.matrix()(p, 2), std::sin(position / 100), 1e-15); // 10000^(2/4)
        EXPECT_NEAR(X.matrix()(p, 3), std::cos(position / 100), 1e-15);
    }
}

TEST(Sinusoids, AreRoundedOnce)
{
    const auto X = attn::core::add_sinusoids(Tensor<float>({2, 1}, {0.25F, 0.25F}));
    EXPECT_EQ(X.values[1], static_cast<float>(0.25 + std::sin(1.0)));
}

TEST(Rope, TurnsHalvesAgainstEachOtherOrNeighbours)
{
    // With base 1 every pair turns by one radian a position.
    const Tensor<double> X({1, 2, 4}, {1, 2, 3, 4, 1, 2, 3, 4});
    const double c = std::cos(1.0);
    const double s = std::sin(1.0);
    const auto half = attn::core::apply_rope(X, {.base = 1}).values;
    const auto pairs = attn::core::apply_rope(X, {.base = 1, .style = RopeStyle::interleaved}).values;
    const std::vector<double> half_expected{1, 2, 3, 4, c - 3 * s, 2 * c - 4 * s, s + 3 * c, 2 * s + 4 * c};
    const std::vector<double> pairs_expected{1, 2, 3, 4, c - 2 * s, s + 2 * c, 3 * c - 4 * s, 3 * s + 4 * c};
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_NEAR(half[i], half_expected[i], 1e-15) << i;
        EXPECT_NEAR(pairs[i], pairs_expected[i], 1e-15) << i;
    }
}

TEST(Rope, LeavesWhatLiesBeyondItsDimension)
{
    const Tensor<double> X = normal({2, 3, 6}, 1);
    const auto turned = attn::core::apply_rope(X, {.dim = 4});
    for (Index h = 0; h < 2; ++h) {
        EXPECT_EQ(turned.matrix(h).rightCols(2), X.matrix(h).rightCols(2));
        EXPECT_FALSE(turned.matrix(h).row(2).leftCols(4).isApprox(X.matrix(h).row(2).leftCols(4)));
    }
}

TEST(Rope, KeepsLengthsAndProductsOfEqualDistance)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Index d = 2 + 2 * static_cast<Index>(seed % 5);
        const Tensor<double> one = normal({1, 1, d}, seed);
        Tensor<double> same({1, 9, d}); // the same vector at nine positions
        for (Index p = 0; p < 9; ++p) {
            same.matrix().row(p) = one.matrix().row(0);
        }
        const Rope rope{.base = 50, .style = seed % 2 == 0 ? RopeStyle::half : RopeStyle::interleaved};
        const auto turned = attn::core::apply_rope(same, rope);
        const attn::Matrix<double> products = turned.matrix() * turned.matrix().transpose();
        for (Index i = 0; i < 9; ++i) {
            for (Index j = 0; j < 9; ++j) {
                EXPECT_NEAR(products(i, j), products(0, std::abs(i - j)), 1e-12) << "seed " << seed;
            }
        }
    }
}

std::string refusal(Index d, std::optional<Index> r)
{
    return error_of(attn::ErrorKind::internal, [&] { (void)attn::core::apply_rope(Tensor<float>({1, 2, d}), {.dim = r}); });
}

TEST(Rope, RefusesOddAndTooLargeDimensions)
{
    EXPECT_EQ(refusal(3, {}), "rotary dimension: got 3; allowed: an even number up to the 3 components of a query or key");
    EXPECT_EQ(refusal(4, 6), "rotary dimension: got 6; allowed: an even number up to the 4 components of a query or key");
    EXPECT_EQ(refusal(1, {}), "rotary dimension: got 1; allowed: an even number up to the 1 components of a query or key");
    EXPECT_EQ(refusal(4, 2), "no error");
}

TEST(Positions, EndWhereSinesAreNoLongerExact)
{
    constexpr Index too_many = attn::core::most_positions + 1;
    EXPECT_THROW((void)attn::core::apply_rope(Tensor<float>({1, too_many, 2}), {}), attn::Error);
    EXPECT_THROW((void)attn::core::add_sinusoids(Tensor<float>({too_many, 1})), attn::Error);
}

TEST(Alibi, HalvesFromHeadToHeadOfEight)
{
    std::vector<double> expected;
    for (int h = 1; h <= 8; ++h) {
        expected.push_back(std::ldexp(1.0, -h));
    }
    EXPECT_EQ(attn::core::alibi_slopes(8), expected);
    EXPECT_EQ(attn::core::alibi_slopes(1), (std::vector<double>{1.0 / 256}));
}

TEST(Alibi, FillsUpWithEveryOtherSlopeOfTwiceTheHeads)
{
    EXPECT_EQ(attn::core::alibi_slopes(3), (std::vector<double>{0x1p-4, 0x1p-8, 0x1p-2}));
    EXPECT_EQ(attn::core::alibi_slopes(6), (std::vector<double>{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3}));
    const std::vector<double> twelve = attn::core::alibi_slopes(12);
    ASSERT_EQ(twelve.size(), 12U);
    for (int h = 0; h < 4; ++h) { // of sixteen: 2^(-1/2), 2^(-3/2), …
        EXPECT_DOUBLE_EQ(twelve[static_cast<std::size_t>(8 + h)], std::pow(2.0, -0.5 - h));
    }
}

TEST(Alibi, IsNoMatterOfTheInstructionSet)
{
    oracle::Heads<float> heads{Tensor<float>({2, 3, 4}), Tensor<float>({2, 3, 4}), Tensor<float>({2, 3, 2}), {0, 1, 2}};
    std::iota(heads.values.values.begin(), heads.values.values.end(), 1.0F);
    heads.slopes = {0.5, 2};
    const auto portable = oracle::stages_of(heads, {}, {}, {});
    const auto tiled = oracle::stages_of(heads, {}, {}, {.isa = attn::core::best_isa()});
    for (std::size_t i = 0; i < portable[attn::core::Stage::head_context].values.size(); ++i) {
        EXPECT_NEAR(tiled[attn::core::Stage::head_context].values[i], portable[attn::core::Stage::head_context].values[i], 1e-5)
            << i;
    }
    heads.slopes.clear();
    EXPECT_NE(oracle::stages_of(heads, {}, {}, {})[attn::core::Stage::head_context].values,
              portable[attn::core::Stage::head_context].values);
}

TEST(Alibi, IsTakenOffTheScoresByDistanceFromEachQuery)
{
    oracle::Heads<double> heads{Tensor<double>({2, 2, 1}), Tensor<double>({1, 4, 1}), Tensor<double>({1, 4, 1}), {1, 3}};
    heads.slopes = {0.5, 2};
    const auto stages = oracle::stages_of(heads, {}, {attn::core::Stage::masked_scores}, {});
    EXPECT_EQ(stages[attn::core::Stage::masked_scores].values, (std::vector<double>{-0.5, 0, -0.5, -1, -1.5, -1, -0.5, 0, //
                                                                                    -2, 0, -2, -4, -6, -4, -2, 0}));
}

} // namespace
