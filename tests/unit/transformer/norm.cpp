#include "attn/transformer/layers/norm.hpp"

#include <gtest/gtest.h>

namespace {

using attn::Matrix;
namespace transformer = attn::transformer;

TEST(Norm, OfALayerTakesTheMeanAwayAndDividesByTheDeviation)
{
    Matrix<float> X = (Matrix<float>(1, 3) << 1, 2, 3).finished();
    transformer::normalise(X, {.epsilon = 0, .weight = {1, 1, 1}, .bias = {0, 0, 10}});
    EXPECT_EQ(X(0, 0), -1.22474487F); // -√(3/2)
    EXPECT_EQ(X(0, 1), 0);
    EXPECT_EQ(X(0, 2), 11.2247448F);
}

} // namespace
