#include "attn/report/text/display.hpp"

#include <gtest/gtest.h>

namespace {

using attn::report::display_width;
using attn::report::shortened;
using attn::report::visible;

TEST(DisplayWidth, CountsLettersAndWideLetters)
{
    EXPECT_EQ(display_width(""), 0);
    EXPECT_EQ(display_width("dessert"), 7);
    EXPECT_EQ(display_width("\u00e9\u00df\u03b1"), 3);
    EXPECT_EQ(display_width("\u4eba\u3042\uac00\uff21"), 8); // Chinese, Japanese, Korean, full-width A
    EXPECT_EQ(display_width("\uff71"), 1);                   // half-width katakana
}

TEST(DisplayWidth, GivesCombiningMarksNone)
{
    EXPECT_EQ(display_width("e\u0301"), 1);
    EXPECT_EQ(display_width("\u0301"), 0);
    EXPECT_EQ(display_width("o\u0302\u0323x"), 2);
    EXPECT_EQ(display_width("a\u200bb\u200d"), 2);
    EXPECT_EQ(display_width("\u1112\u1161\u11ab"), 2); // one syllable of three Hangul letters
}

TEST(DisplayWidth, SeesAnEmojiSequenceAsOne)
{
    EXPECT_EQ(display_width("\U0001f600"), 2);
    EXPECT_EQ(display_width("\U0001f468\u200d\U0001f469\u200d\U0001f467"), 2); // family
    EXPECT_EQ(display_width("\U0001f44b\U0001f3fd"), 2);                       // skin tone
    EXPECT_EQ(display_width("\u2764"), 1);                                     // text style
    EXPECT_EQ(display_width("\u2764\ufe0f"), 2);                               // emoji style
    EXPECT_EQ(display_width("1\ufe0f\u20e3"), 2);                              // keycap
    EXPECT_EQ(display_width("a\ufe0f"), 1);                                    // no emoji to be
    EXPECT_EQ(display_width("\U0001f1e9\U0001f1ea"), 2);                       // flag
    EXPECT_EQ(display_width("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"), 4);   // two flags
    EXPECT_EQ(display_width("\U0001f3f3\ufe0f\u200d\U0001f308"), 2);           // rainbow flag
}

TEST(Visible, EscapesWhatMovesTheCursorOrTurnsTheText)
{
    EXPECT_EQ(visible("a\nb\tc\rd"), "a\\nb\\tc\\rd");
    EXPECT_EQ(visible("\x1b[31m\x7f\x01"), "\\x1b[31m\\x7f\\x01");
    EXPECT_EQ(visible("\u0085\u009b"), "\\u0085\\u009b");
    EXPECT_EQ(visible("\u202a\u202e\u2066\u2069"), "\\u202a\\u202e\\u2066\\u2069");
    EXPECT_EQ(visible("\u2028\u2029"), "\\u2028\\u2029");
}

TEST(Visible, KeepsEverythingElse)
{
    const char* text = "na\u00efve \u4eba \U0001f468\u200d\U0001f469 \u05d0\u200f \u00a0\u2065\u2027\u202f \\";
    EXPECT_EQ(visible(text), text);
    EXPECT_EQ(visible("a\xff"), "a\ufffd");
}

TEST(Shortened, KeepsWhatFits)
{
    EXPECT_EQ(shortened("dessert", 7), "dessert");
    EXPECT_EQ(shortened("", 3), "");
    EXPECT_EQ(shortened("\u4eba\u4eba", 4), "\u4eba\u4eba");
    EXPECT_EQ(shortened("e\u0301", 1), "e\u0301");
}

TEST(Shortened, CutsBetweenClusters)
{
    EXPECT_EQ(shortened("dessert", 6), "desse\u2026");
    EXPECT_EQ(shortened("dessert", 1), "\u2026");
    EXPECT_EQ(shortened("dessert", 0), "");
    EXPECT_EQ(shortened("\u4eba\u4eba\u4eba", 4), "\u4eba\u2026"); // half of a wide letter is none
    EXPECT_EQ(shortened("ne\u0301ant", 3), "ne\u0301\u2026");
    EXPECT_EQ(shortened("\U0001f468\u200d\U0001f469\u200d\U0001f467ab", 3), "\U0001f468\u200d\U0001f469\u200d\U0001f467\u2026");
}

TEST(Shortened, NeverTakesMoreThanItMay)
{
    const std::string text = "a\u4ebae\u0301\U0001f1e9\U0001f1ea\u2764\ufe0fz\U0001f44b\U0001f3fd\u00e9";
    for (attn::Index width = 0; width <= 14; ++width) {
        EXPECT_LE(display_width(shortened(text, width)), width);
        EXPECT_GE(display_width(shortened(text, width)), std::min<attn::Index>(width - 1, display_width(text))) << width;
    }
    EXPECT_EQ(shortened(text, display_width(text)), text);
}

} // namespace
