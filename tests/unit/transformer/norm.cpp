#include "attn/transformer/layers/layers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using attn::Matrix;
namespace transformer = attn::transformer;
using transformer::NormKind;

Matrix<float> row(std::initializer_list<float> values)
{
    Matrix<float> X(1, static_cast<attn::Index>(values.size()));
    std::ranges::copy(values, X.data());
    return X;
}

TEST(Norm, OfALayerTakesTheMeanAwayAndDividesByTheDeviation)
{
    Matrix<float> X = row({1, 2, 3});
    transformer::normalise(X, {.epsilon = 0, .weight = {1, 1, 2}, .bias = {0, 0, 10}});
    EXPECT_EQ(X, row({-1.22474487F, 0, 12.4494897F})); // ±√(3/2)
}

TEST(Norm, ByRootMeanSquareKeepsTheMean)
{
    Matrix<float> X = row({3, 4, 0, 0});
    transformer::normalise(X, {.kind = NormKind::rms, .epsilon = 0, .weight = {1, 1, 1, 1}}); // √(25/4) = 2.5
    EXPECT_EQ(X, row({1.2F, 1.6F, 0, 0}));
}

TEST(Norm, AddsEpsilonBelowTheRoot)
{
    Matrix<float> X = row({0, 0});
    transformer::normalise(X, {.kind = NormKind::rms, .epsilon = 1e-6, .weight = {1, 1}});
    EXPECT_EQ(X, row({0, 0}));
    X = row({1, -1});
    transformer::normalise(X, {.epsilon = 3, .weight = {1, 1}});
    EXPECT_EQ(X, row({0.5F, -0.5F})); // √(1 + 3) = 2
}

TEST(Norm, OfHeadsTakesEachGroupOfARowAlone)
{
    Matrix<float> X = row({3, 4, 6, 8});
    transformer::normalise(X, {.kind = NormKind::rms, .epsilon = 0, .weight = {1, 10}});
    const auto root = static_cast<float>(std::sqrt(12.5));
    EXPECT_NEAR(X(0, 0), 3 / root, 1e-7);
    EXPECT_EQ(X(0, 0), X(0, 2));
    EXPECT_EQ(X(0, 1), X(0, 3));
    EXPECT_NEAR(X(0, 3), 40 / root, 1e-6);
}

TEST(Norm, OfManyNumbersIsThatOfASimpleLoop)
{
    for (const attn::Index size : {1, 7, 8, 9, 48, 385}) {
        Matrix<float> X = Matrix<float>::Random(3, size);
        const Matrix<float> before = X;
        const std::vector<double> ones(static_cast<std::size_t>(size), 1.0);
        transformer::normalise(X, {.epsilon = 1e-5, .weight = ones});
        for (attn::Index t = 0; t < 3; ++t) {
            const auto x = before.row(t).cast<double>();
            const double variance = (x.array() - x.mean()).square().mean();
            for (attn::Index i = 0; i < size; ++i) {
                EXPECT_NEAR(static_cast<double>(X(t, i)), (x(i) - x.mean()) / std::sqrt(variance + 1e-5), 2e-7);
            }
        }
    }
}

TEST(Norm, RefusesARowThatIsNoWholeNumberOfGroups)
{
    Matrix<float> X = row({1, 2, 3});
    EXPECT_THROW(transformer::normalise(X, {.weight = {1, 1}}), std::exception);
}

} // namespace
