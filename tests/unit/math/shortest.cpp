#include "attn/math/shortest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace {

template <typename Scalar>
std::string written(Scalar value)
{
    std::array<char, attn::math::shortest_room> text{};
    return {text.data(), attn::math::write_shortest(text.data(), value)};
}

/// The C++ library's text, with a point or an exponent.
template <typename Scalar>
std::string expected(Scalar value)
{
    std::array<char, 64> text{};
    std::string decimal(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
    return decimal.find_first_of(".e") == std::string::npos ? decimal + ".0" : decimal;
}

float float_of(std::uint32_t bits)
{
    return std::bit_cast<float>(bits);
}

TEST(WriteShortest, WritesNumbersThatOneKnows)
{
    EXPECT_EQ(written(0.0F), "0.0");
    EXPECT_EQ(written(-0.0F), "-0.0");
    EXPECT_EQ(written(1.0F), "1.0");
    EXPECT_EQ(written(-1.5F), "-1.5");
    EXPECT_EQ(written(0.1F), "0.1");
    EXPECT_EQ(written(0.00123F), "0.00123");
    EXPECT_EQ(written(0.0001F), "1e-04"); // two notations of five characters would be a tie; this one has fewer
    EXPECT_EQ(written(0.001F), "0.001");  // a tie: fixed
    EXPECT_EQ(written(1.0F / 3.0F), "0.33333334");
    EXPECT_EQ(written(123456.7F), "123456.7");
    EXPECT_EQ(written(16777216.0F), "16777216.0");
    EXPECT_EQ(written(1234567936.0F), "1234567936.0"); // 1.234568e+09 would read back, but is longer
    EXPECT_EQ(written(1e20F), "1e+20");
    EXPECT_EQ(written(std::numeric_limits<float>::max()), "3.4028235e+38");
    EXPECT_EQ(written(std::numeric_limits<float>::min()), "1.1754944e-38");
    EXPECT_EQ(written(std::numeric_limits<float>::denorm_min()), "1e-45");
    EXPECT_EQ(written(0.1), "0.1");
    EXPECT_EQ(written(3.0), "3.0");
}

// All floats were compared once, with the same result; here are the edges of every exponent and many between.
TEST(WriteShortest, AgreesWithTheLibraryAtTheEdgesOfEveryExponent)
{
    for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
        for (std::uint32_t edge = 0; edge < 300; ++edge) {
            for (const std::uint32_t fraction : {edge, 0x7fffffU - edge, 0x400000U - 150 + edge}) {
                const float value = float_of(exponent << 23 | fraction);
                ASSERT_EQ(written(value), expected(value));
            }
        }
    }
}

TEST(WriteShortest, AgreesWithTheLibraryAnywhere)
{
    std::mt19937 random(5);
    for (int i = 0; i < 2000000; ++i) {
        const float value = float_of(static_cast<std::uint32_t>(random()));
        if (std::isfinite(value)) {
            ASSERT_EQ(written(value), expected(value)) << std::bit_cast<std::uint32_t>(value);
        }
    }
}

TEST(WriteShortest, AgreesWithTheLibraryOnShortDecimals)
{
    for (int exponent = -45; exponent <= 38; ++exponent) {
        for (int digits = 1; digits < 2000; ++digits) {
            const std::string text = std::to_string(digits) + "e" + std::to_string(exponent - 3);
            float value = 0;
            std::from_chars(text.data(), text.data() + text.size(), value);
            ASSERT_EQ(written(value), expected(value)) << text;
        }
    }
}

TEST(WriteShortest, WritesNoMoreThanItsRoom)
{
    std::array<char, attn::math::shortest_room + 8> text{};
    for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
        text.fill('#');
        (void)attn::math::write_shortest(text.data(), float_of(1U << 31 | exponent << 23 | 0x2aaaaaU));
        EXPECT_TRUE(std::all_of(text.begin() + attn::math::shortest_room, text.end(), [](char c) { return c == '#'; }));
    }
}

} // namespace
