#include "attn/report/text/grid.hpp"

#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using attn::Index;
using attn::report::GridStyle;
using attn::report::Shade;
using attn::report::Shading;

std::string drawn(std::span<const double> values, const GridStyle& style, const std::vector<std::string>& names = {})
{
    return sample::text_of([&](attn::Buffer& buffer) { attn::report::write_half_blocks(buffer, values, names, style); });
}

GridStyle words(Index width)
{
    return {.row_labels = {"to", "be", "not"},
            .column_labels = {"to", "be", "not"},
            .width = width,
            .shading = Shading::colours_16};
}

constexpr std::array causal{1.0, 0.0, 0.0, 0.7, 0.3, 0.0, 0.1, 0.0, 0.9};

TEST(HalfBlocks, AreTwoQueriesALineInTheColoursOfTheirWeights)
{
    EXPECT_EQ(drawn(causal, words(80)), "          n\n"
                                        "        tbo\n"
                                        "        oet\n"
                                        "to  be  \x1b[0;33;46m▀\x1b[0;34m▄\x1b[m\n"
                                        "not     \x1b[0;30m▀\x1b[m \x1b[0;33m▀\x1b[m\n");
}

TEST(HalfBlocks, ShadeEachRowToItsLargest)
{
    GridStyle maps = words(80);
    maps.scale.shade = Shade::row;
    const std::string text = drawn(causal, maps);
    EXPECT_NE(text.find("to  be  \x1b[0;33;43m▀\x1b[0;34m▄\x1b[m\n"), std::string::npos) << text;
}

TEST(HalfBlocks, PutsMapsSideBySideWhereTheyFit)
{
    std::vector<double> two(causal.begin(), causal.end());
    two.insert(two.end(), 9, 0.0);
    EXPECT_EQ(drawn(two, words(80), {"head 0", "head 1"}), "        head 0  head 1\n"
                                                           "          n       n\n"
                                                           "        tbo     tbo\n"
                                                           "        oet     oet\n"
                                                           "to  be  \x1b[0;33;46m▀\x1b[0;34m▄\x1b[m\n"
                                                           "not     \x1b[0;30m▀\x1b[m \x1b[0;33m▀\x1b[m\n");
    const std::string below = drawn(two, words(20), {"head 0", "head 1"});
    EXPECT_NE(below.find("\n\n        head 1\n"), std::string::npos) << below;
}

TEST(HalfBlocks, LeavesOutColumnsThatDoNotFit)
{
    const std::vector<std::string> many(30, "a");
    const std::string text =
        drawn(std::vector<double>(60, 1.0),
              {.row_labels = {"x", "y"}, .column_labels = many, .width = 20, .shading = Shading::colours_16});
    std::string cells;
    for (int i = 0; i < 15; ++i) {
        cells += "▀";
    }
    EXPECT_EQ(text, "    " + std::string(15, 'a') + "\nx y \x1b[0;33;43m" + cells + "\x1b[m…\n");
}

TEST(HalfBlocks, HasPositionsAboveWordsThatAreNoLettersOfOneColumn)
{
    GridStyle maps = words(80);
    maps.column_labels = {"子", "曰", "a"};
    EXPECT_EQ(drawn(causal, maps).substr(0, 10), "        0\n");
    maps.column_labels = std::vector<std::string>(12, "子");
    EXPECT_EQ(drawn(std::vector<double>(36, 0.0), maps), "        0    5    10\nto  be\nnot\n");
}

TEST(HalfBlocks, ShortensLongWords)
{
    const std::string text = drawn(std::vector<double>(4, 0.0), {.row_labels = {"internationally", "renowned"},
                                                                 .column_labels = {"internationally", "renowned"},
                                                                 .width = 80,
                                                                 .shading = Shading::colours_16});
    EXPECT_EQ(text, "                      ir\n                      ne\n                      tn\n                      eo\n"
                    "                      rw\n                      ……\ninternati… renowned\n");
}

} // namespace
