#include "attn/report/svg/markup.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using attn::report::shortened_to;
using attn::report::text_width;

TEST(TextWidth, AddsLettersByTheirWidths)
{
    EXPECT_EQ(text_width(""), 0);
    EXPECT_NEAR(text_width("m"), 0.975, 1e-12);
    EXPECT_NEAR(text_width("0.51"), 3 * 0.637 + 0.334, 1e-12);
    EXPECT_LT(text_width("illi"), text_width("wwww"));
}

TEST(TextWidth, AnAccentTakesNoRoom)
{
    EXPECT_EQ(text_width("\u00e9"), text_width("e"));           // é in one
    EXPECT_EQ(text_width("e\u0301"), text_width("e"));          // and in two
    EXPECT_EQ(text_width("\u200d"), 0);                         // zero width joiner
    EXPECT_NEAR(text_width("\u01c6"), text_width("dz"), 1e-12); // ǆ
}

TEST(TextWidth, CountsSquaresAndEmojiOnce)
{
    EXPECT_NEAR(text_width("\u4eba\u3042\uac00"), 3 * 1.05, 1e-12);
    EXPECT_NEAR(text_width("\u1112\u1161\u11ab"), 1.05, 1e-12);                        // a syllable of three letters
    EXPECT_NEAR(text_width("\U0001f468\u200d\U0001f469\u200d\U0001f467"), 1.4, 1e-12); // a family
    EXPECT_NEAR(text_width("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"), 2.8, 1e-12);   // two flags
    EXPECT_GT(text_width("\u0645\u0631\u062d\u0628\u0627"), 5 * 0.95);                 // Arabic
    EXPECT_GT(text_width("\ufdfa"), 10);                                               // a phrase in one character
    EXPECT_GT(text_width("\ufdfd"), 10);                                               // a sentence
}

TEST(ShortenedTo, KeepsWhatFits)
{
    EXPECT_EQ(shortened_to("dessert", 10), "dessert");
    EXPECT_EQ(shortened_to("dessert", text_width("dessert")), "dessert");
    EXPECT_EQ(shortened_to("", 0), "");
}

TEST(ShortenedTo, CutsBetweenClustersAndEndsWithAnEllipsis)
{
    EXPECT_EQ(shortened_to("000000", 3.3), "000\u2026");
    EXPECT_EQ(shortened_to("e\u0301e\u0301e\u0301e\u0301", 2), "e\u0301\u2026");
    EXPECT_EQ(shortened_to("wide", 0.5), "\u2026");
    for (double width = 1.1; width < 12; width += 0.1) {
        EXPECT_LE(text_width(shortened_to("Donaudampfschifffahrt", width)), width + 1e-9) << width;
    }
}

} // namespace
