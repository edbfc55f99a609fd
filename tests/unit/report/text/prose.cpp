#include "attn/report/text/prose.hpp"

#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

namespace {

using attn::Index;
using attn::report::glue;

/// What `write` makes of a page so many columns wide.
std::string page(Index width, const auto& write)
{
    return sample::text_of([&](attn::Buffer& buffer) {
        attn::report::Prose prose(buffer, width);
        write(prose);
    });
}

TEST(Prose, HasBoldHeadingsAndColouredCellsWhereThereAreColours)
{
    const std::string text = sample::text_of([](attn::Buffer& buffer) {
        attn::report::Prose prose(buffer, 16, attn::report::Shading::colours_16);
        prose.heading("1. Softmax of all scores", 3);
        prose.remark("not bold");
        prose.table({"", {"a", "b", "sum"}}, {{"weight", {"1.0", "0.0", "1.0"}, {1, 0}}});
    });
    EXPECT_EQ(text, "\x1b[1m1. Softmax of\x1b[m\n\x1b[1mall scores\x1b[m\nnot bold\n     weight\na   \x1b[30;43m    1.0\x1b[m\n"
                    "b       0.0\nsum     1.0\n");
}

TEST(Prose, BreaksParagraphsAtBlanksButNotAtGlue)
{
    const std::string glued = std::string("1.5") + glue + "/" + glue + "2.5";
    EXPECT_EQ(page(80, [&](auto& p) { p.paragraph("a b " + glued); }), "   a b 1.5 / 2.5\n");
    EXPECT_EQ(page(10, [&](auto& p) { p.paragraph("a b " + glued); }), "a b\n1.5 / 2.5\n");
    EXPECT_EQ(page(3, [&](auto& p) { p.paragraph("a b " + glued); }), "a b\n1.5\n/\n2.5\n"); // which no line can hold
}

TEST(Prose, BreaksSumsBetweenTermsWhichStandBelowEachOther)
{
    const std::vector<std::string> terms{"0.5000·v(a)", "0.2500·v(b)", "0.2500·v(c)"};
    EXPECT_EQ(page(80, [&](auto& p) { p.sum("c = ", terms); }), "   c = 0.5000·v(a) + 0.2500·v(b) + 0.2500·v(c)\n");
    EXPECT_EQ(page(40, [&](auto& p) { p.sum("c = ", terms); }), "   c = 0.5000·v(a) + 0.2500·v(b)\n     + 0.2500·v(c)\n");
    EXPECT_EQ(page(14, [&](auto& p) { p.sum("context = ", terms); }), "context =\n0.5000·v(a)\n+ 0.2500·v(b)\n+ 0.2500·v(c)\n");
    const std::string result = std::string("0.2500·v(c)") + glue + "=" + glue + "0.1250";
    EXPECT_EQ(page(14, [&](auto& p) { p.sum("", {"0.5000·v(a)", result}); }), "0.5000·v(a)\n+ 0.2500·v(c)\n= 0.1250\n");
}

TEST(Prose, WritesAsManyNumbersALineAsFit)
{
    const std::vector<std::string> numbers{"1.0", "-2.0", "3.0", "4.0", "5.0", "6.0", "7.0", "8.0", "9.0"};
    EXPECT_EQ(page(80, [&](auto& p) { p.vector(numbers); }),
              "   [0]   1.0  -2.0   3.0   4.0   5.0   6.0   7.0   8.0\n   [8]   9.0\n");
    EXPECT_EQ(page(20, [&](auto& p) { p.vector(numbers); }),
              "[0]   1.0  -2.0\n[2]   3.0   4.0\n[4]   5.0   6.0\n[6]   7.0   8.0\n[8]   9.0\n");
    EXPECT_EQ(page(4, [&](auto& p) { p.vector({"1.0", "2.0"}); }), "[0]  1.0\n[1]  2.0\n");
    EXPECT_EQ(page(80, [&](auto& p) { p.vector({}); }), "");
}

TEST(Prose, AlignsTablesByWhatWordsTakeOnTheScreen)
{
    const attn::report::Column labels{"", {"你好", "a"}};
    const std::vector<attn::report::Column> columns{{"score", {"-1.5", "22.5"}}, {"weight", {"0.1", "0.9"}}};
    EXPECT_EQ(page(80, [&](auto& p) { p.table(labels, columns); }),
              "         score  weight\n   你好   -1.5     0.1\n   a      22.5     0.9\n");
    EXPECT_EQ(page(15, [&](auto& p) { p.table(labels, columns); }), // what does not fit follows below
              "      score\n你好   -1.5\na      22.5\n\n      weight\n你好     0.1\na        0.9\n");
}

} // namespace
