#include "attn/math/printed_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using attn::math::DigitsSeen;
using attn::math::usual_spelling;

TEST(PrintedNumbers, KnowWhatProgramsCallInfinitiesTruthsAndMaskedScores)
{
    for (const char* name : {"", "null", "masked", "-Infinity", "-Inf", "-inf"}) {
        EXPECT_EQ(usual_spelling(name), "-inf") << name;
    }
    EXPECT_EQ(usual_spelling("+Infinity"), "inf");
    EXPECT_EQ(usual_spelling("NaN"), "nan");
    EXPECT_EQ(usual_spelling("True"), "1");
    EXPECT_EQ(usual_spelling("+0.5"), "0.5");
    EXPECT_EQ(usual_spelling("+-0.5"), "+-0.5"); // no number, and none that is made of it
    EXPECT_EQ(usual_spelling("-0.5"), "-0.5");
}

TEST(PrintedNumbers, AreReadWhereTheyBegin)
{
    constexpr std::string_view text = "[0.50, \"nan\";-1e-3]";
    attn::math::NumberPlaces places{{1, 8, 13}, {attn::math::PackedDigits({.fixed = 2, .scientific = {}})}};
    const attn::math::PrintedNumbers numbers(text, places);
    ASSERT_EQ(numbers.size(), 3);
    EXPECT_EQ(numbers[0].value, 0.5);
    EXPECT_EQ(numbers[0].unit, 0.01);
    EXPECT_TRUE(std::isnan(numbers[1].value));
    EXPECT_EQ(numbers[2].value, -1e-3);
    EXPECT_TRUE(attn::math::PrintedNumbers().empty());
}

TEST(DigitsSeen, OfUnpaddedNumbersCountsThoseThatEachHas)
{
    DigitsSeen seen; // "%g"
    for (const char* number : {"0.394941", "0.00131815", "0"}) {
        EXPECT_TRUE(seen.add(number));
    }
    EXPECT_FALSE(seen.add("x"));
    EXPECT_EQ(seen.digits().fixed, 8);
    EXPECT_FALSE(seen.digits().scientific.has_value());
    EXPECT_EQ(seen.digits_unpadded().fixed, 8);
    EXPECT_EQ(seen.digits_unpadded().scientific, 5);
    DigitsSeen same; // "%.4f"
    EXPECT_TRUE(same.add("0.3949") && same.add("12.0013"));
    EXPECT_FALSE(same.digits_unpadded().scientific.has_value());
}

} // namespace
