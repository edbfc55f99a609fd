#include "attn/core/stages.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

namespace core = attn::core;
using attn::Matrix;

constexpr float infinity = std::numeric_limits<float>::infinity();

Matrix<float> rows(std::initializer_list<std::initializer_list<float>> values)
{
    Matrix<float> matrix(static_cast<attn::Index>(values.size()), static_cast<attn::Index>(values.begin()->size()));
    attn::Index i = 0;
    for (const auto& row : values) {
        attn::Index j = 0;
        for (const float value : row) {
            matrix(i, j++) = value;
        }
        ++i;
    }
    return matrix;
}

TEST(Product, MultipliesRowsByColumns)
{
    const Matrix<float> A = rows({{1, 2, 3, 4, 5}, {0, 1, 0, 0, -1}});
    const Matrix<double> B = rows({{1, 10}, {2, 20}, {3, 30}, {4, 40}, {5, 50}}).cast<double>();
    EXPECT_EQ(core::product<float>(A, B), rows({{55, 550}, {-3, -30}}));
}

TEST(Product, SumsInDoubleAndRoundsOnce)
{
    // In float32 1e8 + 1 is 1e8, so a float32 sum would give 0.
    const Matrix<float> A = rows({{1e8F, 1, -1e8F}});
    EXPECT_EQ(core::product<float>(A, Matrix<double>::Ones(3, 1))(0, 0), 1);
}

TEST(Product, NamesBothShapesWhenTheyDoNotFit)
{
    try {
        (void)core::product<float>(rows({{1, 2}}), Matrix<double>::Ones(3, 1));
        FAIL();
    } catch (const attn::Error& error) {
        EXPECT_STREQ(error.what(), "product: got (1, 2) by (3, 1); allowed: inner dimensions that are equal");
    }
}

TEST(Project, AddsTheBiasToEveryRow)
{
    attn::RowVector<double> b(2);
    b << 100, 200;
    EXPECT_EQ(core::project<float>(rows({{1, 0}, {0, 1}}), rows({{1, 2}, {3, 4}}).cast<double>(), b),
              rows({{101, 202}, {103, 204}}));
    EXPECT_EQ(core::project<float>(rows({{1, 1}}), rows({{1, 2}, {3, 4}}).cast<double>(), {}), rows({{4, 6}}));
}

TEST(Scale, MultipliesEveryScore)
{
    EXPECT_EQ(core::scale<float>(rows({{2, -4, 0}}), 0.5), rows({{1, -2, 0}}));
}

TEST(Softcap, LeavesSmallScoresAndBoundsLargeOnes)
{
    const Matrix<float> capped = core::softcap<float>(rows({{0.001F, 1000, -1000, 30}}), 30);
    EXPECT_FLOAT_EQ(capped(0, 0), 0.001F);
    EXPECT_FLOAT_EQ(capped(0, 1), 30);
    EXPECT_FLOAT_EQ(capped(0, 2), -30);
    EXPECT_FLOAT_EQ(capped(0, 3), 22.847826F); // 30·tanh 1
}

struct Case {
    core::AttentionOptions options;
    attn::Index position;
    attn::Index begin, end; // of five keys
};

TEST(VisibleKeys, FollowCausalMaskAndWindow)
{
    core::AttentionOptions causal{.scale = {}, .softcap = {}, .causal = true, .window = {}};
    core::AttentionOptions window{.scale = {}, .softcap = {}, .causal = false, .window = core::Window{1, 2}};
    core::AttentionOptions left_open{.scale = {}, .softcap = {}, .causal = false, .window = core::Window{-1, 0}};
    core::AttentionOptions both{.scale = {}, .softcap = {}, .causal = true, .window = core::Window{1, -1}};
    for (const Case& c :
         {Case{{}, 3, 0, 5}, Case{causal, 0, 0, 1}, Case{causal, 3, 0, 4}, Case{causal, 9, 0, 5}, Case{window, 0, 0, 3},
          Case{window, 2, 1, 5}, Case{window, 9, 5, 5}, Case{left_open, 2, 0, 3}, Case{both, 3, 2, 4}}) {
        const core::KeyRange keys = core::visible_keys(c.options, c.position, 5);
        EXPECT_EQ(keys.begin, c.begin) << "position " << c.position;
        EXPECT_EQ(keys.end, c.end) << "position " << c.position;
    }
}

TEST(Mask, PutsMinusInfinityWhereAKeyIsNotSeen)
{
    const core::AttentionOptions causal{.scale = {}, .softcap = {}, .causal = true, .window = {}};
    const std::array<attn::Index, 2> positions{0, 2};
    EXPECT_EQ(core::mask<float>(rows({{1, 2, 3}, {4, 5, 6}}), causal, positions.data()),
              rows({{1, -infinity, -infinity}, {4, 5, 6}}));
}

TEST(Softmax, OfEqualScoresIsUniform)
{
    EXPECT_EQ(core::softmax<float>(rows({{7, 7, 7, 7}})), rows({{0.25F, 0.25F, 0.25F, 0.25F}}));
}

TEST(Softmax, SaturatesOnALargeScore)
{
    EXPECT_EQ(core::softmax<float>(rows({{1e4F, 0, -1e4F}})), rows({{1, 0, 0}}));
}

TEST(Softmax, GivesMaskedKeysExactlyZeroAndAnEmptyRowZeros)
{
    EXPECT_EQ(core::softmax<float>(rows({{3, -infinity}, {-infinity, -infinity}})), rows({{1, 0}, {0, 0}}));
}

TEST(Softmax, KeepsDenormalWeights)
{
    const Matrix<float> weights = core::softmax<float>(rows({{0, -100}}));
    EXPECT_GT(weights(0, 1), 0);
    EXPECT_LT(weights(0, 1), std::numeric_limits<float>::min());
}

TEST(Softmax, StaysFiniteForAnyFiniteScore)
{
    const float largest = std::numeric_limits<float>::max();
    EXPECT_EQ(core::softmax<float>(rows({{largest, largest, -largest}})), rows({{0.5F, 0.5F, 0}}));
}

TEST(Softmax, GivesScoresThatOverflowedTheWholeRow)
{
    EXPECT_EQ(core::softmax<float>(rows({{infinity, 5, infinity, -infinity}})), rows({{0.5F, 0, 0.5F, 0}}));
}

TEST(Softmax, OfANanIsNan)
{
    EXPECT_TRUE(core::softmax<float>(rows({{1, std::nanf(""), 2}})).array().isNaN().all());
}

TEST(WeightedSum, AveragesValues)
{
    const Matrix<double> V = rows({{2, 20}, {4, 40}}).cast<double>();
    EXPECT_EQ(core::weighted_sum<float>(rows({{0.5F, 0.5F}, {0, 1}}), V), rows({{3, 30}, {4, 40}}));
}

TEST(WeightedSum, TakesNothingFromAValueWithoutWeight)
{
    const Matrix<double> V = rows({{2, 20}, {std::nanf(""), infinity}}).cast<double>();
    EXPECT_EQ(core::weighted_sum<float>(rows({{1, 0}}), V), rows({{2, 20}}));
}

TEST(Entropy, IsZeroForOneKeyAndLnNForNEqualOnes)
{
    const auto entropies = core::entropy<float>(rows({{1, 0, 0, 0}, {0.25F, 0.25F, 0.25F, 0.25F}, {0, 0, 0, 0}}));
    EXPECT_EQ(entropies(0), 0);
    EXPECT_FALSE(std::signbit(entropies(0)));
    EXPECT_FLOAT_EQ(entropies(1), std::log(4.0F));
    EXPECT_EQ(entropies(2), 0);
}

TEST(Concatenate, PutsHeadsSideBySide)
{
    const attn::Tensor<float> heads({2, 2, 1}, {1, 2, 3, 4});
    const attn::Tensor<float> context = core::concatenate(heads);
    EXPECT_EQ(context.shape, (attn::Shape{2, 2}));
    EXPECT_EQ(context.values, (std::vector<float>{1, 3, 2, 4}));
}

} // namespace
