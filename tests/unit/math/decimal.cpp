#include "attn/math/decimal.hpp"

#include "attn/tensor/error.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace attn::math;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ---- shortest ---------------------------------------------------------------------------------------------------------

TEST(Shortest, AlwaysHasAPointOrAnExponent)
{
    EXPECT_EQ(shortest(1.0F), "1.0");
    EXPECT_EQ(shortest(-0.0F), "-0.0");
    EXPECT_EQ(shortest(0.0), "0.0");
    EXPECT_EQ(shortest(0.1F), "0.1");
    EXPECT_EQ(shortest(0.1), "0.1");
    EXPECT_EQ(shortest(static_cast<double>(0.1F)), "0.10000000149011612");
    EXPECT_EQ(shortest(16777216.0F), "16777216.0");
    EXPECT_EQ(shortest(1e20), "1e+20");
    EXPECT_EQ(shortest(1.5e-7), "1.5e-07");
    EXPECT_EQ(shortest(-std::numeric_limits<double>::max()), "-1.7976931348623157e+308");
    EXPECT_EQ(shortest(std::numeric_limits<float>::denorm_min()), "1e-45");
    EXPECT_EQ(shortest(-2.2250738585072014e-308), "-2.2250738585072014e-308");
    EXPECT_EQ(shortest(-1234567890123456774144.0), "-1234567890123456774144.0"); // the longest
}

TEST(Shortest, IsFixedUnlessScientificIsShorter)
{
    EXPECT_EQ(shortest(0.00123F), "0.00123");
    EXPECT_EQ(shortest(0.0001F), "1e-04"); // two notations of five characters would be a tie; this one has fewer
    EXPECT_EQ(shortest(0.001F), "0.001");  // a tie: fixed
    EXPECT_EQ(shortest(1.0F / 3.0F), "0.33333334");
    EXPECT_EQ(shortest(123456.7F), "123456.7");
    EXPECT_EQ(shortest(1234567936.0F), "1234567936.0"); // 1.234568e+09 would read back, but is longer
    EXPECT_EQ(shortest(1e20F), "1e+20");
    EXPECT_EQ(shortest(std::numeric_limits<float>::max()), "3.4028235e+38");
    EXPECT_EQ(shortest(std::numeric_limits<float>::min()), "1.1754944e-38");
}

TEST(Shortest, NamesWhatIsNotFinite)
{
    EXPECT_EQ(shortest(infinity), "inf");
    EXPECT_EQ(shortest(-infinity), "-inf");
    EXPECT_EQ(shortest(nan), "nan");
    EXPECT_EQ(shortest(-nan), "nan");
    EXPECT_EQ(shortest(-std::numeric_limits<float>::quiet_NaN()), "nan");
    EXPECT_EQ(shortest(-std::numeric_limits<float>::infinity()), "-inf");
}

template <typename Scalar, typename Bits>
void expect_round_trip(Bits bits)
{
    const auto value = std::bit_cast<Scalar>(bits);
    if (!std::isfinite(value)) {
        return;
    }
    const std::string text = shortest(value);
    EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text;
    EXPECT_EQ(std::bit_cast<Bits>(nearest<Scalar>(text)), bits) << text;
    // Rounded to the fewest digits that read back. Fewer do for a power of two, whose neighbours are not equally far, and an
    // integer shows all of its digits.
    int exponent = 0;
    if (std::abs(std::frexp(value, &exponent)) == Scalar{0.5} ||
        (value == std::trunc(value) && text.find('e') == std::string::npos)) {
        return;
    }
    int digits = 0;
    while (nearest<Scalar>(scientific(static_cast<double>(value), digits)) != value) {
        ++digits;
    }
    EXPECT_EQ(canonical_decimal(text), canonical_decimal(scientific(static_cast<double>(value), digits)));
}

TEST(Shortest, IsTheNearestOfTheShortestThatReadBackToTheSameBits)
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 100000; ++i) {
        const std::uint64_t bits = random();
        expect_round_trip<double>(bits);
        expect_round_trip<float>(static_cast<std::uint32_t>(bits));
    }
}

TEST(AppendShortest, KeepsWhatStandsThere)
{
    std::string text = "[";
    append_shortest(text, 2.5F);
    text += ",";
    append_shortest(text, -3.0);
    EXPECT_EQ(text, "[2.5,-3.0");
}

TEST(AppendShortest, PutsCommasBetweenNumbers)
{
    std::string text = "[";
    append_shortest(text, std::span<const float>());
    EXPECT_EQ(text, "[");
    append_shortest(text, std::span<const float>(std::vector{1.0F, -0.1F, 1e-20F}));
    EXPECT_EQ(text, "[1.0,-0.1,1e-20");
    for (const std::size_t size : {63U, 64U, 65U, 200U}) { // of the longest
        std::string row;
        append_shortest(row, std::span<const double>(std::vector(size, -1234567890123456774144.0)));
        EXPECT_EQ(row.size(), size * 26 - 1);
        EXPECT_EQ(row.substr(row.size() - 26), ",-1234567890123456774144.0");
    }
}

/// What the C++ library finds, with a point or an exponent.
std::string of_library(float value)
{
    std::array<char, 64> text{};
    const std::string found(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
    return found.find_first_of(".e") == std::string::npos ? found + ".0" : found;
}

TEST(Shortest, OfAFloatIsWhatTheLibraryFinds)
{
    constexpr std::uint32_t step = 1009; // every 1009th of all floats, and so all exponents
    for (std::uint64_t bits = 1; bits < (std::uint64_t{1} << 32U); bits += step) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (std::isfinite(value)) {
            ASSERT_EQ(shortest(value), of_library(value));
        }
    }
}

TEST(Shortest, OfAFloatNearARoundDecimalIsWhatTheLibraryFinds)
{
    for (const double round : {1e-30, 1e-7, 0.001, 0.1, 0.3, 0.5, 2.5, 12.25, 1000.0, 123456.0, 8388607.5, 8388608.0, 1e10}) {
        auto value = static_cast<float>(round);
        for (int i = 0; i < 500; ++i) {
            value = std::nextafter(value, std::numeric_limits<float>::infinity());
        }
        for (int i = 0; i < 1000; ++i) {
            value = std::nextafter(value, 0.0F);
            ASSERT_EQ(shortest(value), of_library(value));
            ASSERT_EQ(shortest(-value), "-" + of_library(value));
        }
    }
}

// ---- canonical --------------------------------------------------------------------------------------------------------

TEST(CanonicalDecimal, GivesEqualNumbersOneForm)
{
    for (const char* text : {"-0.0100", "-1e-2", "-0.01", "-10E-3", "-0.001e+1", "-100.0e-0004"}) {
        EXPECT_EQ(canonical_decimal(text), "-1e-2") << text;
    }
    EXPECT_EQ(canonical_decimal("1.50"), canonical_decimal("1.5"));
    EXPECT_EQ(canonical_decimal("120"), "12e1");
    EXPECT_EQ(canonical_decimal("7"), "7e0");
    EXPECT_EQ(canonical_decimal("0.1000000000000000000000000000000000000001"), "1000000000000000000000000000000000000001e-40");
}

TEST(CanonicalDecimal, KeepsTheSignOfZero)
{
    EXPECT_EQ(canonical_decimal("0"), "0");
    EXPECT_EQ(canonical_decimal("0.000"), "0");
    EXPECT_EQ(canonical_decimal("0e99999999999999999999"), "0");
    EXPECT_EQ(canonical_decimal("-0.0e5"), "-0");
}

TEST(CanonicalDecimal, KeepsNames)
{
    for (const char* text : {"inf", "-inf", "nan"}) {
        EXPECT_EQ(canonical_decimal(text), text);
    }
}

TEST(CanonicalDecimal, RefusesWhatIsNoJsonNumber)
{
    for (const char* text :
         {"",   "-",  ".5",  "1.",    "01",  "-01",  "+1",       "1e",    "1e+",  "1.e5",         "0x1",
          "1 ", " 1", "1,5", "1.5.2", "NaN", "-nan", "infinity", "1e5e5", "null", "1e1000000001", "1e-99999999999999999999"}) {
        EXPECT_THROW((void)canonical_decimal(text), attn::Error) << text;
    }
}

TEST(CanonicalDecimal, IsStableAndFindsEveryEqualSpelling)
{
    std::mt19937_64 random(2);
    for (int i = 0; i < 20000; ++i) {
        const auto value = std::bit_cast<double>(random());
        if (!std::isfinite(value)) {
            continue;
        }
        const std::string canonical = canonical_decimal(shortest(value));
        EXPECT_EQ(canonical_decimal(canonical), canonical);
        // 1074 digits after the point write out every double.
        EXPECT_EQ(canonical_decimal(scientific(value, 1074)), canonical_decimal(fixed(value, 1074)));
        EXPECT_NE(canonical_decimal(shortest(std::nextafter(value, infinity))), canonical);
    }
}

// ---- printed ----------------------------------------------------------------------------------------------------------

TEST(ParsePrinted, ReadsTheNotationAndItsUnit)
{
    const Printed plain = parse_printed("-0.0185");
    EXPECT_EQ(plain.value, -0.0185);
    EXPECT_EQ(plain.digits.fixed, 4);
    EXPECT_FALSE(plain.digits.scientific);
    EXPECT_EQ(plain.unit, 1e-4);

    const Printed scientific = parse_printed("1.4928e-02");
    EXPECT_EQ(scientific.value, 1.4928e-02);
    EXPECT_EQ(scientific.digits.scientific, 4);
    EXPECT_FALSE(scientific.digits.fixed);
    EXPECT_EQ(scientific.unit, 1e-6);

    EXPECT_EQ(parse_printed("3.").digits.fixed, 0);
    EXPECT_EQ(parse_printed("3.").unit, 1);
    EXPECT_EQ(parse_printed("0.00").unit, 0.01);
    EXPECT_EQ(parse_printed("0.0000e+00").unit, 0);
    EXPECT_EQ(parse_printed("-inf").value, -infinity);
    EXPECT_TRUE(std::isnan(parse_printed("nan").value));
    EXPECT_TRUE(std::signbit(parse_printed("-0.0000").value));
}

TEST(ParsePrinted, RefusesWhatNobodyPrints)
{
    for (const char* text :
         {"", "abc", "+1.0", ".5", "1.0e", "00.5", "12.5e3", "0.5e3", "1,5", "1.0 ", "1e999", "0x1p3", "--1"}) {
        EXPECT_THROW((void)parse_printed(text), attn::Error) << text;
    }
}

TEST(Agrees, RoundsTheExactValue)
{
    EXPECT_TRUE(agrees(parse_printed("0.0185"), 0.018549735844135284));
    EXPECT_FALSE(agrees(parse_printed("0.0186"), 0.018549735844135284));
    EXPECT_TRUE(agrees(parse_printed("1.8550e-02"), 0.018549735844135284));
    EXPECT_TRUE(agrees(parse_printed("1.855e-2"), 0.018549735844135284));
    EXPECT_TRUE(agrees(parse_printed("0.12"), 0.125)); // a tie, to even
    EXPECT_TRUE(agrees(parse_printed("0.38"), 0.375)); //
    EXPECT_TRUE(agrees(parse_printed("2.67"), 2.675)); // the double is below the tie
    EXPECT_TRUE(agrees(parse_printed("1.0000e+00"), 0.99999999));
    EXPECT_FALSE(agrees(parse_printed("0.0000"), -1e-9)); // "-0.0000"
    EXPECT_TRUE(agrees(parse_printed("-0.0000"), -1e-9));
}

TEST(Agrees, HoldsForNamesAlone)
{
    EXPECT_TRUE(agrees(parse_printed("nan"), -nan));
    EXPECT_TRUE(agrees(parse_printed("inf"), infinity));
    EXPECT_FALSE(agrees(parse_printed("inf"), -infinity));
    EXPECT_FALSE(agrees(parse_printed("inf"), 1e308));
    EXPECT_FALSE(agrees(parse_printed("0.0"), nan));
}

TEST(Agrees, HoldsForWhatPrintfPrints)
{
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 20000; ++i) {
        const double value = normal(random) * std::pow(10, static_cast<int>(random() % 12) - 6);
        const int digits = static_cast<int>(random() % 9);
        char text[64];
        std::snprintf(text, sizeof text, random() % 2 == 0 ? "%.*f" : "%.*e", digits, value);
        const Printed printed = parse_printed(text);
        EXPECT_EQ(printed.digits.fixed.value_or(-1) + printed.digits.scientific.value_or(-1), digits - 1);
        EXPECT_TRUE(agrees(printed, value)) << text;
        EXPECT_TRUE(agrees_within(printed, value, 0)) << text;
        EXPECT_FALSE(agrees(printed, value + 1.01 * printed.unit)) << text;
    }
}

TEST(AgreesWithin, CountsUnitsOfTheLastDigit)
{
    const Printed printed = parse_printed("0.6368");
    EXPECT_TRUE(agrees_within(printed, 0.6369, 1));
    EXPECT_TRUE(agrees_within(printed, 0.6367, 1));
    EXPECT_FALSE(agrees_within(printed, 0.63691, 1));
    EXPECT_FALSE(agrees_within(printed, 0.63669, 1));
    EXPECT_TRUE(agrees_within(printed, 0.63695, 1.5));
    EXPECT_FALSE(agrees_within(printed, 0.6369, 0));
    EXPECT_TRUE(agrees_within(parse_printed("5.9773e-10"), 5.9774e-10, 1));
    EXPECT_FALSE(agrees_within(parse_printed("5.9773e-10"), 5.9775e-10, 1));
    EXPECT_FALSE(agrees_within(printed, nan, 1e9));
    EXPECT_FALSE(agrees_within(printed, infinity, 1e9));
    EXPECT_FALSE(agrees_within(parse_printed("inf"), 1e308, 1e9));
}

TEST(AgreesWithin, ForgivesOneFloat32Step)
{
    const double denormal = std::numeric_limits<float>::denorm_min();
    EXPECT_TRUE(agrees_within(parse_printed("1.4013e-45"), 0, 0));
    EXPECT_TRUE(agrees_within(parse_printed("1.4013e-45"), 2 * denormal, 0));
    EXPECT_FALSE(agrees_within(parse_printed("1.4013e-45"), 3 * denormal, 0));
    EXPECT_TRUE(agrees_within(parse_printed("0.0000e+00"), denormal, 0));
    EXPECT_FALSE(agrees_within(parse_printed("0.0000e+00"), 2 * denormal, 0));
    // 2^-24 apart, half a step above 1 and one step below it.
    EXPECT_TRUE(agrees_within(parse_printed("1.0000000000"), static_cast<double>(std::nextafter(1.0F, 0.0F)), 0));
    EXPECT_TRUE(agrees_within(parse_printed("1.0000000000"), 1 + 0x1p-23, 0));
    EXPECT_FALSE(agrees_within(parse_printed("1.0000000000"), 1 + 0x1p-22, 0));
}

// ---- printed arrays ----------------------------------------------------------------------------------------------------

using Numbers = attn::TextList;

/// Whether a number of an array that holds `numbers` prints as the last of them.
bool prints_last(const Numbers& numbers, double value, attn::ElementType type = attn::ElementType::float64)
{
    return agrees(parse_printed(numbers[numbers.size() - 1], digits_of(numbers)), value, type);
}

TEST(PrintedArray, PaddingIsNoDigit)
{
    constexpr attn::ElementType single = attn::ElementType::float32;
    for (const char* text : {"0.8000001", "0.80000010"}) {
        EXPECT_TRUE(prints_last({"0.70000005", text}, 0.8000001F, single));
        EXPECT_FALSE(prints_last({"0.70000005", text}, std::nextafter(0.8000001F, 1.0F), single));
        EXPECT_FALSE(prints_last({"0.70000005", text}, std::nextafter(0.8000001F, 0.0F), single));
    }
    EXPECT_TRUE(prints_last({"1.2345678e-09", "7.0000000e-01"}, 0.7F, single));
    EXPECT_TRUE(prints_last({"0.12345678", "123456790."}, 123456792, single));
    EXPECT_TRUE(prints_last({"0.1235", "0.1"}, attn::from_float16(attn::to_float16(0.1)), attn::ElementType::float16));
    EXPECT_FALSE(prints_last({"0.12345678", "0.7"}, 0.7F)); // as float64 it prints as 0.69999999
    EXPECT_TRUE(prints_last({"0.12345678", "0.1"}, 0.1000000049));
    EXPECT_FALSE(prints_last({"0.12345678", "0.1"}, 0.1000000051));
}

TEST(PrintedArray, AllHaveTheDigitsOfTheOneThatHasMost)
{
    const auto fixed_of = [](const Numbers& numbers) { return digits_of(numbers).fixed; };
    EXPECT_EQ(fixed_of({"1.", "0.5", "-0.125", "nan"}), 3);
    EXPECT_EQ(fixed_of({"1.", "-2."}), 8); // NumPy's default
    EXPECT_EQ(fixed_of({"1", "0", "-inf"}), 8);
    EXPECT_EQ(fixed_of({"-inf"}), std::nullopt);
    EXPECT_EQ(fixed_of({"1.e+00", "2.0e-03"}), 4); // nobody but a list of Python mixes 0 digits and 1
    EXPECT_EQ(fixed_of({"1.0e+00", "2.5e-03"}), std::nullopt);
    EXPECT_EQ(digits_of(Numbers{"1.0e+00", "2.5e-03"}).scientific, 1);
}

TEST(PrintedArray, OfPythonIsRoundedToDecimalsOrToDigits)
{
    const Numbers rounded{"0.123457", "1.2e-05", "3e-06"}; // round(x, 6)
    EXPECT_TRUE(prints_last(rounded, 3.4e-06));
    EXPECT_FALSE(prints_last(rounded, 3.6e-06));
    EXPECT_FALSE(prints_last({"0.123457", "1.2e-05", "0e+00"}, 4e-07));
    EXPECT_TRUE(prints_last({"1.23457e-05", "12.3457"}, 12.345678)); // %g
    EXPECT_FALSE(prints_last({"1.23457e-05", "12.3457"}, 12.345778));
    EXPECT_TRUE(prints_last({"0.1", "1.2345678901234567e-09"}, 1.2345678901234567e-09));
    EXPECT_FALSE(prints_last({"0.1", "1.2345678901234567e-09"}, 1.2345678901234569e-09));
}

TEST(NearestPrinted, IsTheNumberItselfOnlyWhereItPrintsSo)
{
    const Printed printed = parse_printed("0.1235");
    EXPECT_EQ(nearest_printed(printed, 0.12347), 0.12347);
    EXPECT_DOUBLE_EQ(nearest_printed(printed, 0.2), 0.12355);
    EXPECT_DOUBLE_EQ(nearest_printed(printed, -0.2), 0.12345);
    EXPECT_DOUBLE_EQ(nearest_printed(parse_printed("1.0e+03"), 0), 995);
    EXPECT_DOUBLE_EQ(nearest_printed(parse_printed("1.0e+03"), 2000), 1050);
    EXPECT_EQ(nearest_printed(parse_printed("0.0000"), -1), 0);
    EXPECT_EQ(nearest_printed(parse_printed("inf"), 1), infinity);
    const double tie = 0.125; // prints as 0.12
    EXPECT_EQ(nearest_printed(parse_printed("0.13"), tie), std::nextafter(tie, 1));
}

TEST(AgreeAsPrinted, HoldsWhereOneFloatPrintsAsBoth)
{
    const auto both = [](const char* a, const char* b) {
        const bool holds = agree(parse_printed(a), parse_printed(b));
        EXPECT_EQ(agree(parse_printed(b), parse_printed(a)), holds) << a << " " << b;
        return holds;
    };
    EXPECT_TRUE(both("0.1235", "0.12346") && both("0.12", "1.2346e-01") && both("nan", "nan") && both("-inf", "-inf"));
    EXPECT_FALSE(both("0.1235", "0.12344") || both("0.1235", "0.1236") || both("inf", "nan") || both("0.0000", "-0.00001"));
    EXPECT_FALSE(both("0.50000000", "0.50000001"));
    EXPECT_TRUE(both("0.70000000", "0.69999999")); // the float32 whose shortest decimal is 0.7
    EXPECT_TRUE(both("0.70000000", "0.69999998807907104"));
}

// ---- fixed, scientific ------------------------------------------------------------------------------------------------

TEST(FixedAndScientific, PrintAsPrintfDoes)
{
    EXPECT_EQ(fixed(0.01855, 4), "0.0186");
    EXPECT_EQ(fixed(9.99996, 4), "10.0000");
    EXPECT_EQ(fixed(-0.00001, 4), "-0.0000");
    EXPECT_EQ(fixed(2, 0), "2");
    EXPECT_EQ(scientific(0.01855, 4), "1.8550e-02");
    EXPECT_EQ(scientific(0, 2), "0.00e+00");
    EXPECT_EQ(fixed(-infinity, 4), "-inf");
    EXPECT_EQ(scientific(-nan, 4), "nan");
    EXPECT_EQ(fixed(std::numeric_limits<double>::max(), 1000).size(), 309U + 1 + 1000);
    EXPECT_EQ(scientific(0.1, 400).size(), 1U + 1 + 400 + 4);
    std::mt19937_64 random(4);
    for (int i = 0; i < 20000; ++i) {
        const auto value = std::bit_cast<double>(random());
        if (std::isnan(value)) {
            continue;
        }
        const int digits = static_cast<int>(random() % 20);
        char text[400];
        std::snprintf(text, sizeof text, "%.*f", digits, value);
        EXPECT_EQ(fixed(value, digits), text);
        std::snprintf(text, sizeof text, "%.*e", digits, value);
        EXPECT_EQ(scientific(value, digits), text);
    }
}

// ---- nearest ----------------------------------------------------------------------------------------------------------

TEST(Nearest, ReadsBackWhatWasWritten)
{
    EXPECT_EQ(nearest<float>("0.1"), 0.1F);
    EXPECT_EQ(nearest<double>("0.1"), 0.1);
    EXPECT_EQ(nearest<double>("-1.5E+2"), -150);
    EXPECT_EQ(nearest<float>("1e-45"), std::numeric_limits<float>::denorm_min());
    EXPECT_EQ(nearest<double>("5e-324"), std::numeric_limits<double>::denorm_min());
    EXPECT_EQ(nearest<double>("-inf"), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(nearest<float>("nan")));
}

TEST(Nearest, GivesInfinityOrZeroBeyondTheRange)
{
    constexpr float beyond = std::numeric_limits<float>::infinity();
    EXPECT_EQ(nearest<float>("1e39"), beyond);
    EXPECT_EQ(nearest<float>("-1e39"), -beyond);
    EXPECT_EQ(nearest<float>("1234567890123456789012345678901234567890.5"), beyond); // of which the last digit is small
    EXPECT_EQ(nearest<double>("1e400"), static_cast<double>(beyond));
    for (const char* tiny : {"1e-310", "0.0000000001e-300", "1000000000e-330", "0.1e-45", "9e-99999999999999999999"}) {
        EXPECT_EQ(nearest<float>(tiny), 0) << tiny;
        EXPECT_TRUE(std::signbit(nearest<float>(std::string("-") + tiny))) << tiny;
    }
    EXPECT_EQ(nearest<double>("1e-400"), 0);
    EXPECT_EQ(nearest<double>("0e400"), 0);
    EXPECT_EQ(nearest<double>("1e99999999999999999999"), static_cast<double>(beyond));
    EXPECT_EQ(nearest<float>("0.000000000000000000000000000000000000000000000000000001e99"), beyond);
}

TEST(Nearest, RefusesWhatIsNoNumber)
{
    for (const char* text : {"", "x", "1x", "-", "1e", "0x10", "--1"}) {
        EXPECT_THROW((void)attn::math::nearest<double>(text), attn::Error) << text;
    }
}

} // namespace
