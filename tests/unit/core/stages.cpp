#include "attn/core/stages.hpp"
#include "attn/core/visibility.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

namespace core = attn::core;
using attn::Matrix;

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

TEST(Drop, DividesWhatStaysByItsProbability)
{
    const Matrix<float> W = rows({{0.5F, 0.25F, 0.25F}, {0.1F, 0.2F, 0.7F}});
    const Matrix<double> kept = rows({{1, 0, 1}, {0, 1, 1}}).cast<double>();
    EXPECT_EQ(core::drop<float>(W, kept, 0.5), rows({{1, 0, 0.5F}, {0, 0.4F, 1.4F}}));
    // The factor is rounded first step by step, as PyTorch has it: torch.nn.functional.dropout(…, 0.1) multiplies by 1/0.9 in
    // float32.
    EXPECT_EQ(core::drop<float>(W, kept, 0.1, core::Rounding::step)(1, 2), 0.7F * (1.0F / 0.9F));
    EXPECT_EQ(core::drop<float>(W, kept, 0.1)(1, 2), static_cast<float>(static_cast<double>(0.7F) * (1 / 0.9)));
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

TEST(Product, StepByStepRoundsEveryProductAndEverySum)
{
    // 1e8 + 1 is 1e8 in float32; (1 + 2⁻¹²)² is 1 + 2⁻¹¹ there, without its last 2⁻²⁴.
    const Matrix<float> A = rows({{1e8F, 1, -1e8F}});
    EXPECT_EQ(core::product<float>(A, Matrix<double>::Ones(3, 1), core::Rounding::step)(0, 0), 0);
    const Matrix<float> B = rows({{1 + 0x1p-12F, -1}});
    const Matrix<double> C = rows({{1 + 0x1p-12F}, {1 + 0x1p-11F}}).cast<double>();
    EXPECT_EQ(core::product<float>(B, C)(0, 0), 0x1p-24F);
    EXPECT_EQ(core::product<float>(B, C, core::Rounding::step)(0, 0), 0);
}

TEST(Product, NamesBothShapesWhenTheyDoNotFit)
{
    const auto unfit = [] { (void)core::product<float>(rows({{1, 2}}), Matrix<double>::Ones(3, 1)); };
    EXPECT_EQ(error_of(attn::ErrorKind::internal, unfit),
              "product: got (1, 2) by (3, 1); allowed: inner dimensions that are equal");
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
    EXPECT_EQ(core::scale<float>(rows({{2, -4, 0}}), 0.5, 1), rows({{1, -2, 0}}));
}

TEST(Scale, IsOneOverTheRootOfTheSizeOfAKey)
{
    EXPECT_EQ(core::scale<float>(rows({{2, -4, 0}}), {}, 16), rows({{0.5F, -1, 0}}));
    EXPECT_EQ(core::scale<float>(rows({{2, -4, 0}}), {}, 16, core::Rounding::step), rows({{0.5F, -1, 0}}));
    const float score = 3;
    EXPECT_EQ(core::scale<float>(rows({{score}}), {}, 3, core::Rounding::step)(0, 0), score / std::sqrt(3.0F));
    EXPECT_EQ(core::scale<float>(rows({{score}}), 1e300, 3, core::Rounding::step)(0, 0), infinity);
    EXPECT_EQ(core::scale<float>(rows({{0}}), 1e300, 3, core::Rounding::step)(0, 0), 0);
}

TEST(Softcap, StepByStepRoundsTheQuotientAndTheTangent)
{
    const float s = 1.1F;
    const float tangent = static_cast<float>(std::tanh(static_cast<double>(static_cast<float>(static_cast<double>(s) / 3))));
    EXPECT_EQ(core::softcap<float>(rows({{s}}), 3, core::Rounding::step)(0, 0), 3 * tangent);
    EXPECT_EQ(core::softcap<float>(rows({{0, 5}}), 1e-300, core::Rounding::step), rows({{0, 0}})); // no 0 / 0
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
    attn::Index begin, end;
    attn::Index keys = 5;
};

TEST(VisibleKeys, FollowCausalMaskAndWindow)
{
    core::AttentionOptions causal{.scale = {}, .softcap = {}, .causal = true, .window = {}};
    core::AttentionOptions window{.scale = {}, .softcap = {}, .causal = false, .window = core::Window{1, 2}};
    core::AttentionOptions left_open{.scale = {}, .softcap = {}, .causal = false, .window = core::Window{-1, 0}};
    core::AttentionOptions both{.scale = {}, .softcap = {}, .causal = true, .window = core::Window{1, -1}};
    for (const Case& c : {Case{{}, 3, 0, 5}, Case{causal, 0, 0, 1}, Case{causal, 3, 0, 4}, Case{causal, 9, 0, 5},
                          Case{window, 0, 0, 3}, Case{window, 2, 1, 5}, Case{window, 9, 5, 5}, Case{left_open, 2, 0, 3},
                          Case{both, 3, 2, 4}, Case{{}, 0, 0, 3, 3}, Case{causal, 0, 0, 1, 2}, Case{causal, 4, 0, 2, 2},
                          Case{causal, -1, 0, 0}, Case{window, -2, 0, 1}, Case{window, -9, 0, 0}}) {
        const core::KeyRange keys = core::visible_keys(c.options, c.position, c.keys);
        EXPECT_EQ(keys.begin, c.begin) << "position " << c.position;
        EXPECT_EQ(keys.end, c.end) << "position " << c.position;
    }
}

TEST(Mask, PutsMinusInfinityWhereAKeyIsNotSeen)
{
    EXPECT_EQ(core::mask<float>(rows({{1, 2, 3}, {4, 5, 6}}), {{0, 1}, {0, 3}}), rows({{1, -infinity, -infinity}, {4, 5, 6}}));
}

TEST(AddBias, AddsTheMaskToTheScores)
{
    EXPECT_EQ(core::add_bias<float>(rows({{1, 2}, {3, 4}}), rows({{0.5F, 0}, {-1, 10}}).cast<double>()),
              rows({{1.5F, 2}, {2, 14}}));
}

TEST(AddBias, MasksWhereTheBiasIsMinusInfinityWhateverTheScoreHolds)
{
    const Matrix<double> bias = rows({{-infinity, -infinity, 0}}).cast<double>();
    EXPECT_EQ(core::add_bias<float>(rows({{std::nanf(""), infinity, 1}}), bias), rows({{-infinity, -infinity, 1}}));
}

TEST(AddBias, MasksTheKeysBeyondAShortBias)
{
    EXPECT_EQ(core::add_bias<float>(rows({{1, 2, 3}}), rows({{1, 1}}).cast<double>()), rows({{2, 3, -infinity}}));
    EXPECT_EQ(core::add_bias<float>(rows({{1, 2}}), Matrix<double>(1, 0)), rows({{-infinity, -infinity}}));
}

TEST(Rounded, RoundsToTheTypeAndLeavesTheRest)
{
    // 1 + 2^-11 lies between two float16 and goes to the even one; 1 + 3·2^-11 goes up.
    const Matrix<float> values = rows({{1 + 0x1p-11F, 1 + 0x3p-11F, 70000, -infinity}});
    EXPECT_EQ(core::rounded<float>(values, attn::ElementType::float16), rows({{1, 1 + 0x1p-9F, infinity, -infinity}}));
    EXPECT_EQ(core::rounded<float>(rows({{1 + 0x1p-8F, 70000}}), attn::ElementType::bfloat16), rows({{1, 70144}}));
    EXPECT_EQ(core::rounded<float>(values, attn::ElementType::float32), values);
    Matrix<double> wide(1, 1);
    wide << 1 + 0x1p-30;
    EXPECT_EQ(core::rounded<double>(wide, attn::ElementType::float32)(0, 0), 1);
    EXPECT_EQ(core::rounded<double>(wide, attn::ElementType::float64), wide);
}

TEST(WithDigitsOf, RoundsToEvenWhateverTheRange)
{
    constexpr float largest = std::numeric_limits<float>::max();
    const auto values = rows({{1 + 0x1p-11F, 1 + 3 * 0x1p-11F, 0x1.802p20F, -infinity}}); // two ties; beyond 65504
    EXPECT_EQ(core::with_digits_of<float>(values, attn::ElementType::float16), rows({{1, 1 + 0x1p-9F, 0x1.8p20F, -infinity}}));
    EXPECT_EQ(core::with_digits_of<float>(rows({{1 + 0x1p-8F, -70000, -largest}}), attn::ElementType::bfloat16),
              rows({{1, -70144, -largest}})); // the last one would be -∞
    EXPECT_TRUE(std::isnan(core::with_digits_of<float>(rows({{std::nanf("")}}), attn::ElementType::float16)(0, 0)));
}

TEST(Exponentials, AreWhatSoftmaxDivides)
{
    const core::Exponentials made = core::exponentials<float>(rows({{2, 1, -infinity}}));
    EXPECT_EQ(made.maximum, 2);
    EXPECT_EQ(made.powers, (attn::RowVector<double>{{1, std::exp(-1.0), 0}}));
    EXPECT_EQ(made.sum, 1 + std::exp(-1.0));
    EXPECT_EQ(core::exponentials<float>(rows({{infinity, 5}})).powers, (attn::RowVector<double>{{1, 0}}));
    EXPECT_EQ(core::exponentials<float>(rows({{-infinity, -infinity}})).sum, 0);
    EXPECT_EQ(core::exponentials<float>(rows({{0, 0}}), {.sink = 0}).sum, 3);
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

TEST(Softmax, GivesAnEmptyRowTheValueAskedFor)
{
    const Matrix<float> weights =
        core::softmax<float>(rows({{3, -infinity}, {-infinity, -infinity}}), {.empty = std::nanf("")});
    EXPECT_EQ(weights.row(0), rows({{1, 0}}));
    EXPECT_TRUE(weights.row(1).array().isNaN().all());
}

TEST(Softmax, OfNoKeysIsEmpty)
{
    EXPECT_EQ(core::softmax<float>(Matrix<float>(2, 0)).size(), 0);
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

TEST(Softmax, StepByStepSumsFloatsAndMultipliesByTheInverse)
{
    const float power = static_cast<float>(std::exp(-1.0));
    const float inverse = 1 / (1 + power + power);
    EXPECT_EQ(core::softmax<float>(rows({{1, 0, 0}}), {.rounding = core::Rounding::step}),
              rows({{inverse, power * inverse, power * inverse}}));
    // Each of 1024 keys adds less than half a unit to a sum of 1: floats lose what doubles keep.
    Matrix<float> one_large = Matrix<float>::Constant(1, 1025, std::log(0x1p-25F));
    one_large(0, 0) = 0;
    EXPECT_LT(core::softmax<float>(one_large)(0, 0), 1);
    EXPECT_EQ(core::softmax<float>(one_large, {.rounding = core::Rounding::step})(0, 0), 1);
    EXPECT_EQ(core::softmax<float>(rows({{infinity, 5, -infinity}}), {.rounding = core::Rounding::step}), rows({{1, 0, 0}}));
    EXPECT_EQ(core::softmax<float>(rows({{-infinity, -infinity}}), {.empty = 7, .rounding = core::Rounding::step}),
              rows({{7, 7}}));
}

TEST(Softmax, TakesTheShareOfASinkOffEveryRow)
{
    const float two = std::log(2.0F);
    EXPECT_TRUE(core::softmax<float>(rows({{0, 0}}), {.sink = two}).isApprox(rows({{0.25F, 0.25F}})));
    EXPECT_EQ(core::softmax<float>(rows({{-infinity, -infinity}}), {.empty = 7, .sink = -1e30F}), rows({{0, 0}}));
    EXPECT_EQ(core::softmax<float>(rows({{-infinity, -infinity}}), {.empty = 7, .sink = -infinity}), rows({{7, 7}}));
    EXPECT_EQ(core::softmax<float>(rows({{-1e4F, -1e4F}}), {.sink = 1e4F}), rows({{0, 0}}));
}

TEST(Softmax, RoundsPowersAndNotTheirSum)
{
    const Matrix<float> scores = rows({{0, -0.1F, -1}});
    const double p = std::exp(double(-0.1F)), q = std::exp(-1.0);
    const Matrix<float> weights = core::softmax<float>(scores, {.power_type = attn::ElementType::bfloat16});
    EXPECT_FLOAT_EQ(weights(0, 0), float(1 / (1 + p + q)));
    EXPECT_FLOAT_EQ(weights(0, 1), float(double(attn::from_bfloat16(attn::to_bfloat16(p))) / (1 + p + q)));
    EXPECT_NE(weights(0, 1), core::softmax<float>(scores)(0, 1));
}

TEST(LogSumExp, IsTheLogarithmOfTheSumOfAllPowers)
{
    const Matrix<float> scores =
        rows({{1, 2, 3}, {1e4F, 1e4F, -infinity}, {-infinity, -infinity, -infinity}, {0, infinity, 0}});
    const auto lse = core::log_sum_exp<float>(scores);
    EXPECT_FLOAT_EQ(lse(0), float(std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0))));
    EXPECT_FLOAT_EQ(lse(1), float(1e4 + std::log(2.0)));
    EXPECT_EQ(lse(2), -infinity);
    EXPECT_EQ(lse(3), infinity);
    EXPECT_TRUE(std::isnan(core::log_sum_exp<float>(rows({{1, std::nanf("")}}))(0)));
    EXPECT_FLOAT_EQ(core::log_sum_exp<float>(rows({{0, 0}}), std::log(2.0F))(0), std::log(4.0F));
    EXPECT_EQ(core::log_sum_exp<float>(Matrix<float>(1, 0), 3)(0), 3); // the sink alone
}

TEST(Softmax, OfANanIsNan)
{
    EXPECT_TRUE(core::softmax<float>(rows({{1, std::nanf(""), 2}})).array().isNaN().all());
}

TEST(Softmax, OfANanLeavesMaskedKeysExactlyZero)
{
    for (const core::Rounding rounding : {core::Rounding::stage, core::Rounding::step}) {
        const Matrix<float> weights =
            core::softmax<float>(rows({{-infinity, std::nanf(""), 2}, {-infinity, 0, -infinity}}), {.rounding = rounding});
        EXPECT_EQ(weights(0, 0), 0);
        EXPECT_FALSE(std::signbit(weights(0, 0)));
        EXPECT_TRUE(std::isnan(weights(0, 1)) && std::isnan(weights(0, 2)));
        EXPECT_EQ(weights.row(1), rows({{0, 1, 0}}));
    }
}

TEST(WeightedSum, AveragesValues)
{
    const Matrix<double> V = rows({{2, 20}, {4, 40}}).cast<double>();
    EXPECT_EQ(core::weighted_sum<float>(rows({{0.5F, 0.5F}, {0, 1}}), V), rows({{3, 30}, {4, 40}}));
}

TEST(WeightedSum, StepByStepIsASumOfFloats)
{
    const Matrix<float> weights = rows({{1, 1, 1}});
    EXPECT_EQ(core::weighted_sum<float>(weights, rows({{1e8F}, {1}, {-1e8F}}).cast<double>())(0, 0), 1);
    EXPECT_EQ(core::weighted_sum<float>(weights, rows({{1e8F}, {1}, {-1e8F}}).cast<double>(), core::Rounding::step)(0, 0), 0);
    const Matrix<double> beside_infinity = rows({{1e8F}, {1}, {-1e8F}, {infinity}}).cast<double>();
    EXPECT_EQ(core::weighted_sum<float>(rows({{1, 1, 1, 0}}), beside_infinity)(0, 0), 1);
    EXPECT_EQ(core::weighted_sum<float>(rows({{1, 1, 1, 0}}), beside_infinity, core::Rounding::step)(0, 0), 0);
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
