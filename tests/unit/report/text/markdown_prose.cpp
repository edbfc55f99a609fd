#include "attn/report/text/markdown_prose.hpp"

#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

namespace {

using attn::report::glue;
using attn::report::markdown_paragraph;
using attn::report::markdown_text;
using attn::report::MarkdownProse;

std::string markdown_of(const auto& write)
{
    return sample::text_of([&](attn::Buffer& buffer) {
        MarkdownProse prose(buffer, 40);
        write(prose);
        prose.finish();
    });
}

TEST(MarkdownProse, HasAnEmptyLineBetweenItsParts)
{
    EXPECT_EQ(markdown_of([](MarkdownProse& prose) {
                  prose.title("How *it* is");
                  prose.blank();
                  prose.paragraph(std::string("1. one") + glue + "line");
                  prose.heading("1. Step", 3);
                  prose.remark("the end");
              }),
              "# How \\*it\\* is\n\n1\\. one line\n\n## 1. Step\n\nthe end\n");
}

TEST(MarkdownProse, PutsWhatIsAlignedIntoCode)
{
    EXPECT_EQ(markdown_of([](MarkdownProse& prose) {
                  prose.sum("c = ", {"1·v(a)", "2·v(*)"});
                  prose.vector({"1", "-2"});
                  prose.paragraph("then");
                  prose.vector({"3"});
              }),
              "```\nc = 1·v(a) + 2·v(*)\n[0]   1  -2\n```\n\nthen\n\n```\n[0]  3\n```\n");
}

TEST(MarkdownProse, KeepsASumInItsCodeWhereATermIsTooLong)
{
    const std::string word = std::string(30, 'x');
    const std::string text = markdown_of([&](MarkdownProse& prose) { prose.sum("", {word + glue + word}); });
    EXPECT_EQ(text, "```\n" + word + "\n" + word + "\n```\n");
}

TEST(MarkdownProse, WritesATable)
{
    EXPECT_EQ(markdown_of([](MarkdownProse& prose) {
                  prose.table({"", {"a|b", "sum"}}, {{"exp", {"1", "2"}}, {"w", {"3", ""}}});
              }),
              "|  | exp | w |\n| --- | ---: | ---: |\n| a\\|b | 1 | 3 |\n| sum | 2 |  |\n");
}

TEST(MarkdownText, EscapesWhatWouldBeMarkup)
{
    EXPECT_EQ(markdown_text("a*b `c` <d> \\ e|f ~g~ &amp; $h$"), "a\\*b \\`c\\` \\<d> \\\\ e\\|f \\~g\\~ \\&amp; \\$h\\$");
    EXPECT_EQ(markdown_text("W_q·x(is)[0] and _x_ and x_"), "W_q·x(is)[0] and \\_x\\_ and x\\_");
    EXPECT_EQ(markdown_text("[a](b) [a][b] [a]"), "[a\\](b) [a\\][b] [a]");
    EXPECT_EQ(markdown_text("1. # - is a heading's text"), "1. # - is a heading's text");
}

TEST(MarkdownText, OfAParagraphBeginsNothingElse)
{
    for (const char* mark : {"# a", "- a", "+ a", "> a", "[a]: b"}) {
        EXPECT_EQ(markdown_paragraph(mark), std::string("\\") + mark);
    }
    EXPECT_EQ(markdown_paragraph("* a"), "\\* a");
    EXPECT_EQ(markdown_paragraph("12. a"), "12\\. a");
    EXPECT_EQ(markdown_paragraph("1) a"), "1\\) a");
    EXPECT_EQ(markdown_paragraph("1."), "1\\.");
    EXPECT_EQ(markdown_paragraph("0.5 is 0.5"), "0.5 is 0.5");
    EXPECT_EQ(markdown_paragraph("10"), "10");
    EXPECT_EQ(markdown_paragraph(""), "");
}

} // namespace
