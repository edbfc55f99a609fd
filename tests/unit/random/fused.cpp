#include "attn/random/torch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using attn::random::fused;

// Bits, so that the sign of a zero counts.
void expect_as_fma(float a, float b, float c)
{
    ASSERT_EQ(std::bit_cast<std::uint32_t>(fused(a, b, c)), std::bit_cast<std::uint32_t>(std::fma(a, b, c)))
        << a << " * " << b << " + " << c;
}

float any_finite(std::mt19937_64& engine)
{
    for (;;) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
        if (std::isfinite(value)) {
            return value;
        }
    }
}

TEST(Fused, RoundsOnceWhereRoundingTwiceDiffers)
{
    // 1 + 2^-24 lies halfway between two floats; the product is a little more than 2^-24, by less than a double beside 1 shows.
    const float above_half = 0x1.000002p-24F;
    EXPECT_EQ(fused(above_half, 1.0F, 1.0F), 0x1.000002p0F);
    EXPECT_EQ(fused(0x1.000002p-24F, 0x1.fffffep-1F, 1.0F), std::fma(0x1.000002p-24F, 0x1.fffffep-1F, 1.0F));
    EXPECT_EQ(fused(0x1.000002p-12F, 0x1.fffffep-13F, 1.0F), 0x1.000002p0F) << "2^-24·(1 + 2^-24 - …) is above the half";
    EXPECT_EQ(fused(0x1p-12F, 0x1p-12F, 1.0F), 1.0F) << "exactly half goes to the even one";
    EXPECT_EQ(fused(0x1.000002p-30F, -0x1p-30F, 0x1.000002p0F), 0x1.000002p0F);
}

TEST(Fused, IsStdFmaForAnyFiniteNumbers)
{
    std::mt19937_64 engine(1);
    for (int i = 0; i < 1000000; ++i) {
        expect_as_fma(any_finite(engine), any_finite(engine), any_finite(engine));
    }
}

TEST(Fused, IsStdFmaForNumbersOfLikeSize)
{
    std::mt19937_64 engine(2);
    std::uniform_real_distribution<float> unit(-1.0F, 1.0F);
    for (int i = 0; i < 1000000; ++i) {
        const float a = unit(engine);
        const float b = unit(engine);
        expect_as_fma(a, b, std::ldexp(unit(engine), static_cast<int>(engine() % 80) - 40));
        expect_as_fma(a, b, -a * b);
        const int shift = static_cast<int>(engine() % 24);
        expect_as_fma(std::ldexp(a, -70), std::ldexp(b, -79 + shift), std::ldexp(unit(engine), -126 - shift / 2));
    }
}

TEST(Fused, IsStdFmaAroundTheHalves)
{
    for (int i = -3; i <= 3; ++i) {
        for (int j = -3; j <= 3; ++j) {
            for (int k = 0; k < 8; ++k) {
                const float a = 1.0F + static_cast<float>(i) * 0x1p-23F;
                const float b = 0x1p-24F * (1.0F + static_cast<float>(j) * 0x1p-23F);
                const float c = 1.0F + static_cast<float>(k) * 0x1p-23F;
                expect_as_fma(a, b, c);
                expect_as_fma(-a, b, c);
                expect_as_fma(a, b, -c);
            }
        }
    }
    expect_as_fma(0.0F, -1.0F, 0.0F);
    expect_as_fma(-0.0F, 1.0F, -0.0F);
}

} // namespace
