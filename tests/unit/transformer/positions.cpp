// Rotary positions and T5's buckets.
#include "attn/core/positions.hpp"
#include "attn/transformer/layers/positions.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

namespace transformer = attn::transformer;
using attn::Index;
using attn::Matrix;
using transformer::RopePart;
using transformer::RopeScaling;

TEST(Rotate, TurnsAsCoreDoes)
{
    const Index T = 5, heads = 3, d = 8;
    for (const Index dim : {2, 4, 8}) {
        Matrix<float> X = Matrix<float>::Random(T, heads * d);
        attn::Tensor<float> split({heads, T, d});
        for (Index h = 0; h < heads; ++h) {
            split.matrix(h) = X.middleCols(h * d, d);
        }
        split = attn::core::apply_rope(split, {.base = 500, .dim = dim});
        transformer::rotate(X, d, transformer::rotation({.base = 500, .dim = dim}, T));
        for (Index h = 0; h < heads; ++h) {
            EXPECT_EQ(Matrix<float>(X.middleCols(h * d, d)), Matrix<float>(split.matrix(h))) << dim;
        }
    }
}

TEST(Frequencies, FallWithThePowerOfTheBase)
{
    const std::vector<double> list = transformer::frequencies({.base = 10000, .dim = 4});
    EXPECT_EQ(list[0], 1);
    EXPECT_NEAR(list[1], 0.01, 1e-17);
    const std::vector<double> odd = transformer::frequencies({.base = 10000, .dim = 3}); // two pairs all the same
    ASSERT_EQ(odd.size(), 2U);
    EXPECT_NEAR(odd[1], std::pow(10000, -2.0 / 3), 1e-17);
}

TEST(Frequencies, AreDividedByALinearFactor)
{
    EXPECT_EQ(transformer::frequencies({.base = 10000, .dim = 2, .scaling = RopeScaling::linear, .factor = 8})[0], 0.125);
}

TEST(Frequencies, OfLlama3AreKeptWhereFastDividedWhereSlowAndBlendedInBetween)
{
    // One frequency, 1: a wavelength of 2π, so `original` / 2π turns in the original context.
    const auto scaled = [](double turns) {
        return transformer::frequencies({.base = 10000,
                                         .dim = 2,
                                         .scaling = RopeScaling::llama3,
                                         .factor = 8,
                                         .low = 1,
                                         .high = 4,
                                         .original = turns * 2 * std::acos(-1.0)})[0];
    };
    EXPECT_EQ(scaled(5), 1);
    EXPECT_EQ(scaled(0.9), 0.125);
    EXPECT_NEAR(scaled(2.5), 0.5 + 0.5 * 0.125, 1e-15);
}

TEST(Bucket, IsADistanceEachNearByAndGrowsFurtherOn)
{
    const transformer::RelativeBiasPart part{"", 32, 128}; // 16 a direction, 8 of them exact
    EXPECT_EQ(transformer::bucket_of(0, part), 0);
    EXPECT_EQ(transformer::bucket_of(-7, part), 7);
    EXPECT_EQ(transformer::bucket_of(-8, part), 8);
    EXPECT_EQ(transformer::bucket_of(-15, part), 9); // 8 + ⌊8·ln(15/8)/ln 16⌋
    EXPECT_EQ(transformer::bucket_of(-16, part), 10);
    EXPECT_EQ(transformer::bucket_of(-64, part), 14);
    EXPECT_EQ(transformer::bucket_of(-127, part), 15);
    EXPECT_EQ(transformer::bucket_of(-128, part), 15);
    EXPECT_EQ(transformer::bucket_of(-5000, part), 15);
    EXPECT_EQ(transformer::bucket_of(1, part), 17);
    EXPECT_EQ(transformer::bucket_of(5000, part), 31);
}

TEST(Bucket, OfACausalOneAllAreForKeysBeforeTheQuery)
{
    const transformer::RelativeBiasPart part{.buckets = 32, .most_distance = 128, .causal = true}; // 16 of them exact
    EXPECT_EQ(transformer::bucket_of(0, part), 0);
    EXPECT_EQ(transformer::bucket_of(3, part), 0); // which no query sees
    EXPECT_EQ(transformer::bucket_of(-15, part), 15);
    EXPECT_EQ(transformer::bucket_of(-16, part), 16);
    EXPECT_EQ(transformer::bucket_of(-32, part), 21); // 16 + ⌊16·ln(32/16)/ln 8⌋
    EXPECT_EQ(transformer::bucket_of(-127, part), 31);
    EXPECT_EQ(transformer::bucket_of(-5000, part), 31);
}

TEST(Sinusoid, HasSinesFirstAndCosinesBehindThem)
{
    EXPECT_EQ(transformer::sinusoid(0, 4), (attn::RowVector<float>(4) << 0, 0, 1, 1).finished());
    const attn::RowVector<float> third = transformer::sinusoid(3, 5); // an odd one more of sines
    const std::array<double, 5> angles{3, 3 / std::pow(10000, 0.4), 3 / std::pow(10000, 0.8), 3, 3 / std::pow(10000, 0.4)};
    for (attn::Index n = 0; n < 5; ++n) {
        const double angle = angles.at(static_cast<std::size_t>(n));
        EXPECT_FLOAT_EQ(third[n], static_cast<float>(n < 3 ? std::sin(angle) : std::cos(angle)));
    }
}

TEST(RelativeBias, LooksUpTheKeysDistanceFromItsQuery)
{
    const transformer::RelativeBiasPart part{"", 4, 8};
    const Matrix<float> table = (Matrix<float>(4, 2) << 0, 10, 1, 11, 2, 12, 3, 13).finished();
    const attn::Tensor<float> bias = transformer::relative_bias(part, table, 2);
    EXPECT_EQ(bias.shape, (attn::Shape{2, 2, 2}));
    EXPECT_EQ(bias.values, (std::vector<float>{0, 3, 1, 0, 10, 13, 11, 10}));
}

} // namespace
