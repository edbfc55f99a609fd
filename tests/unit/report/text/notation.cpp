#include "attn/report/text/notation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using attn::report::Notation;
using attn::report::NotationRule;

/// As a matrix of one row is written.
std::string row_of(const std::vector<double>& values, NotationRule rule, int digits = 4)
{
    const Notation notation = attn::report::notations_of(std::span<const double>(values), 1, rule, digits).front();
    std::string text;
    for (const double value : values) {
        text += (text.empty() ? "" : " ") + attn::report::text_of(value, notation, digits);
    }
    return text;
}

std::string fixed_row(const std::vector<double>& values, int digits = 4)
{
    return row_of(values, NotationRule::fixed, digits);
}

std::string row_by_itself(const std::vector<double>& values)
{
    return row_of(values, NotationRule::row);
}

TEST(Notation, IsFixedUnlessThatSaysNothing)
{
    EXPECT_EQ(fixed_row({0.0185, 0.6368, 0.0092}), "0.0185 0.6368 0.0092");
    EXPECT_EQ(fixed_row({3.6588e-24, 1, -2e-7}), "0.0000 1.0000 -0.0000");
    EXPECT_EQ(fixed_row({6e-5, 1e-9}), "0.0001 0.0000");
    EXPECT_EQ(fixed_row({4e-5, 1e-9}), "4.0000e-05 1.0000e-09");
    EXPECT_EQ(fixed_row({-99999.5, 0.25}), "-99999.5000 0.2500");
    EXPECT_EQ(fixed_row({-1e5, 0.25}), "-1.0000e+05 2.5000e-01");
}

TEST(Notation, GoesByTheDigitsThatAreWritten)
{
    EXPECT_EQ(fixed_row({4e-5, 1e-7}, 6), "0.000040 0.000000");
    EXPECT_EQ(fixed_row({0.6, 0.3}, 0), "1 0");
    EXPECT_EQ(fixed_row({0.4, 0.3}, 0), "4e-01 3e-01");
    EXPECT_EQ(fixed_row({99999, 1}, 0), "99999 1");
}

// Each expected row is what PyTorch 1.13 prints for torch.tensor([...]), whole numbers aside.
TEST(Notation, OfARowIsPyTorchs)
{
    EXPECT_EQ(row_by_itself({0.0185, 0.6368, 0.0092}), "0.0185 0.6368 0.0092");
    EXPECT_EQ(row_by_itself({1e-4, 0.05}), "0.0001 0.0500");
    EXPECT_EQ(row_by_itself({9.999e-5, 0.05}), "9.9990e-05 5.0000e-02");
    EXPECT_EQ(row_by_itself({0.001, 1.0}), "0.0010 1.0000");
    EXPECT_EQ(row_by_itself({0.000999, 1.0}), "9.9900e-04 1.0000e+00");
    EXPECT_EQ(row_by_itself({1e8, 1.5e8 - 5e7}), "100000000.0000 100000000.0000");
    EXPECT_EQ(row_by_itself({100000001.5, 1e8}), "1.0000e+08 1.0000e+08");
    EXPECT_EQ(row_by_itself({-0.5, 2.5, -1000.25}), "-5.0000e-01 2.5000e+00 -1.0002e+03");
}

TEST(Notation, LeavesZerosAndWhatIsNotFiniteOutOfTheRule)
{
    const double infinity = std::numeric_limits<double>::infinity();
    for (const NotationRule rule : {NotationRule::fixed, NotationRule::row}) {
        EXPECT_EQ(row_of({0, 0}, rule), "0.0000 0.0000");
        EXPECT_EQ(row_of({0, 0.5}, rule), "0.0000 0.5000");
        EXPECT_EQ(row_of({infinity, -infinity, std::nan(""), 0.5}, rule), "inf -inf nan 0.5000");
        EXPECT_EQ(row_of({infinity, 1e-5, 0}, rule), "inf 1.0000e-05 0.0000e+00");
    }
}

TEST(Notation, OfAMatrixIsOneForAllOfItsRowsOrOneForEach)
{
    const std::vector<double> matrix{1, 2, 3, 1e6, 1e-9, 1};
    const auto of = [&](NotationRule rule) { return attn::report::notations_of(std::span<const double>(matrix), 3, rule, 4); };
    EXPECT_EQ(of(NotationRule::fixed), std::vector(3, Notation::scientific));
    EXPECT_EQ(of(NotationRule::row), (std::vector{Notation::fixed, Notation::scientific, Notation::scientific}));
    const std::span<const double> nothing;
    EXPECT_TRUE(attn::report::notations_of(nothing, 0, NotationRule::row, 4).empty());
}

} // namespace
