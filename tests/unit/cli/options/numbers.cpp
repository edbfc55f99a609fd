#include "cli/options/numbers.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace {

using namespace attn::cli;
using attn::ErrorKind;

TEST(Integer, ReadsPlainDecimals)
{
    EXPECT_EQ(integer("--n", "0", 0, 9), 0);
    EXPECT_EQ(integer("--n", "7", 1, 9), 7);
    EXPECT_EQ(integer("--n", "-1", -1, 9), -1);
    EXPECT_EQ(integer("--n", "1048576", 1, 1048576), 1048576);
}

TEST(Integer, RefusesWhatOtherReadersGuessAt)
{
    for (const char* text : {"010", "00", "-0", "0x10", "1e3", "+4", " 4", "4 ", "4.0", "nan", "inf", "", "-", "--4", "4,", "٤",
                             "1_000", "9223372036854775808", "-9223372036854775809"}) {
        EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)integer("--n", text, std::numeric_limits<std::int64_t>::min(), 9); })
                      .substr(0, 10),
                  "--n: got '")
            << text;
    }
}

TEST(Integer, TellsTheRangeItAllows)
{
    EXPECT_EQ(error_of(ErrorKind::usage, [] { (void)integer("--heads", "0", 1, 65536); }),
              "--heads: got '0'; allowed: an integer from 1 to 65536");
    EXPECT_EQ(error_of(ErrorKind::usage, [] { (void)integer("--heads", "65537", 1, 65536); }),
              "--heads: got '65537'; allowed: an integer from 1 to 65536");
    EXPECT_EQ(error_of(ErrorKind::usage, [] { (void)integer("--heads", "08", 1, 65536); }),
              "--heads: got '08'; allowed: an integer from 1 to 65536, without leading zeros");
    EXPECT_EQ(error_of(ErrorKind::usage, [] { (void)integer("--heads", "-0", 0, 65536); }),
              "--heads: got '-0'; allowed: an integer from 0 to 65536");
}

TEST(Integer, KeepsAHostileValueOnOneLine)
{
    EXPECT_EQ(error_of(ErrorKind::usage, [] { (void)integer("--n", "1\n2", 0, 9); }),
              "--n: got '1\\n2'; allowed: an integer from 0 to 9");
}

TEST(Natural, ReachesTheLargestOf64Bits)
{
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(natural("--seed", "18446744073709551615", 0, most), most);
    EXPECT_NE(error_of(ErrorKind::usage, [] { (void)natural("--seed", "18446744073709551616", 0, most); }), "no error");
    EXPECT_NE(error_of(ErrorKind::usage, [] { (void)natural("--seed", "-1", 0, most); }), "no error");
}

TEST(Real, ReadsDecimalsAndExponents)
{
    EXPECT_EQ(real("--scale", "0.25"), 0.25);
    EXPECT_EQ(real("--scale", "-2"), -2.0);
    EXPECT_EQ(real("--scale", "1e-3"), 1e-3);
    EXPECT_EQ(real("--scale", "0"), 0.0);
    EXPECT_EQ(real("--scale", ".5"), 0.5);
    EXPECT_EQ(real("--scale", "-.25"), -0.25);
}

TEST(Real, RefusesWhatIsNoFinitePlainNumber)
{
    for (const char* text : {"nan", "inf", "-inf", "1e999", "1e-999", "0x1p3", "+1", " 1", "1 ", "", "1,5", ".", "010", "e3",
                             "-.", ".e3", "..5"}) {
        EXPECT_NE(error_of(ErrorKind::usage, [&] { (void)real("--scale", text); }), "no error") << text;
    }
}

TEST(Real, LeavesOutTheEndOfAnOpenRange)
{
    const RealRange positive{.least = 0, .least_itself = false, .allowed = "above 0"};
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)real("--softcap", "0", positive); }),
              "--softcap: got '0'; allowed: above 0");
    EXPECT_EQ(error_of(ErrorKind::usage, [&] { (void)real("--softcap", "-0.0", positive); }),
              "--softcap: got '-0.0'; allowed: above 0");
    EXPECT_EQ(real("--softcap", "1e-300", positive), 1e-300);
    EXPECT_EQ(real("--rtol", "0", {.least = 0}), 0.0);
}

TEST(List, SplitsAtSingleCommas)
{
    EXPECT_EQ(list("--ids", "2"), (std::vector<std::string_view>{"2"}));
    EXPECT_EQ(list("--ids", "2,6,8"), (std::vector<std::string_view>{"2", "6", "8"}));
}

TEST(ListOfWords, DropsBlanksAroundItemsAndRefusesThoseInside)
{
    EXPECT_EQ(list_of_words("--ids", " 2,\t6 , 8"), (std::vector<std::string_view>{"2", "6", "8"}));
    for (const char* text : {"", " ", "1, ,2", "2 6 8", "1,2 3", "1,\t"}) {
        EXPECT_NE(error_of(ErrorKind::usage, [&] { (void)list_of_words("--ids", text); }), "no error") << text;
    }
}

TEST(List, RefusesEmptyItems)
{
    for (const char* text : {"", ",", "1,", ",1", "1,,2"}) {
        EXPECT_NE(error_of(ErrorKind::usage, [&] { (void)list("--ids", text); }), "no error") << text;
    }
}

} // namespace
