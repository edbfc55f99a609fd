#include "attn/report/colour_map.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::report::colour_of;
using attn::report::ColourScale;
using attn::report::contrast;
using attn::report::luminance;
using attn::report::Rgb;
using attn::report::Shade;
using attn::report::shade_of;
using attn::report::step_of;
using attn::report::takes_dark_text;
using attn::report::xterm_colour_of;
using attn::report::xterm_rgb;

constexpr Rgb black{0, 0, 0};
constexpr Rgb white{255, 255, 255};

TEST(ColourMap, GoesFromDarkBlueToYellow)
{
    EXPECT_EQ(colour_of(0), (Rgb{0, 34, 78}));
    EXPECT_EQ(colour_of(1), (Rgb{254, 232, 56}));
    EXPECT_EQ(colour_of(127.0 / 255), colour_of(127.4 / 255));
    EXPECT_NE(colour_of(127.0 / 255), colour_of(127.6 / 255));
}

TEST(ColourMap, TakesTheNearerEndForWhatLiesOutside)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(colour_of(-0.1), colour_of(0));
    EXPECT_EQ(colour_of(-infinity), colour_of(0));
    EXPECT_EQ(colour_of(1.5), colour_of(1));
    EXPECT_EQ(colour_of(infinity), colour_of(1));
    EXPECT_EQ(colour_of(std::numeric_limits<double>::quiet_NaN()), colour_of(0));
}

TEST(ColourMap, TakesTheNearestStep)
{
    EXPECT_EQ(step_of(0, 5), 0U);
    EXPECT_EQ(step_of(0.124, 5), 0U);
    EXPECT_EQ(step_of(0.126, 5), 1U);
    EXPECT_EQ(step_of(1, 5), 4U);
    EXPECT_EQ(step_of(-3, 5), 0U);
    EXPECT_EQ(step_of(1.01, 5), 4U);
    EXPECT_EQ(step_of(std::numeric_limits<double>::quiet_NaN(), 5), 0U);
}

TEST(ColourMap, AHeavierShareIsNeverDarker)
{
    constexpr double rounding = 1e-4; // to 8 bits
    for (int i = 0; i < 255; ++i) {
        EXPECT_LE(luminance(colour_of(i / 255.0)), luminance(colour_of((i + 1) / 255.0)) + rounding) << i;
        EXPECT_LE(luminance(xterm_rgb(xterm_colour_of(i / 255.0))), luminance(xterm_rgb(xterm_colour_of((i + 1) / 255.0))))
            << i;
    }
}

TEST(ColourMap, MoreInkIsDarkerToAllEyes)
{
    // Every channel falls, so whatever an eye weighs them with, the sum does.
    using attn::report::ink_of;
    for (int i = 0; i < 255; ++i) {
        const Rgb lighter = ink_of(i / 255.0);
        const Rgb darker = ink_of((i + 1) / 255.0);
        EXPECT_TRUE(darker.r <= lighter.r && darker.g <= lighter.g && darker.b <= lighter.b) << i;
        EXPECT_GT(luminance(lighter), luminance(darker)) << i;
    }
    EXPECT_EQ(ink_of(0), (Rgb{247, 250, 253}));
    EXPECT_EQ(ink_of(0.5), (Rgb{107, 163, 214}));
    EXPECT_EQ(ink_of(1), (Rgb{8, 26, 63}));
    EXPECT_EQ(ink_of(2), ink_of(1));
    EXPECT_EQ(ink_of(std::numeric_limits<double>::quiet_NaN()), ink_of(0));
}

TEST(ColourMap, UsesOnlyColoursOfATerminalThatNoThemeChanges)
{
    for (int i = 0; i <= 255; ++i) {
        EXPECT_GE(xterm_colour_of(i / 255.0), 16) << i;
        EXPECT_LE(xterm_colour_of(i / 255.0), 255) << i;
    }
    EXPECT_EQ(xterm_rgb(16), black);
    EXPECT_EQ(xterm_rgb(231), white);
    EXPECT_EQ(xterm_rgb(67), (Rgb{95, 135, 175}));
    EXPECT_EQ(xterm_rgb(232), (Rgb{8, 8, 8}));
    EXPECT_EQ(xterm_rgb(255), (Rgb{238, 238, 238}));
}

TEST(ColourMap, ComputesTheContrastOfWcag)
{
    EXPECT_NEAR(luminance(white), 1, 1e-12);
    EXPECT_EQ(luminance(black), 0);
    EXPECT_NEAR(contrast(black, white), 21, 1e-9);
    EXPECT_EQ(contrast(white, white), 1);
    EXPECT_NEAR(contrast(Rgb{119, 119, 119}, white), 4.48, 0.005); // #777 on white, the well-known near miss of 4.5
}

TEST(ColourMap, TextReadsOnEveryColour)
{
    for (int i = 0; i <= 255; ++i) {
        const Rgb colour = colour_of(i / 255.0);
        EXPECT_GE(contrast(colour, takes_dark_text(colour) ? black : white), 4.5) << i;
    }
    EXPECT_FALSE(takes_dark_text(colour_of(0)));
    EXPECT_TRUE(takes_dark_text(colour_of(1)));
}

TEST(ColourScale, IsByRowWhereThereAreManyKeysAndNobodySaysOtherwise)
{
    EXPECT_EQ(shade_of({}, 24), Shade::absolute);
    EXPECT_EQ(shade_of({}, 25), Shade::row);
    EXPECT_EQ(shade_of({.shade = Shade::log}, 25), Shade::log);
    EXPECT_EQ(shade_of({.most = 0.5}, 25), Shade::absolute);
}

TEST(ColourScale, GoesFromEndToEnd)
{
    const ColourScale scale{.low = -1, .high = 3};
    EXPECT_EQ(scale.share(-1), 0);
    EXPECT_EQ(scale.share(1), 0.5);
    EXPECT_EQ(scale.share(3), 1);
    constexpr double most = std::numeric_limits<double>::max();
    EXPECT_EQ((ColourScale{.low = -most, .high = most}.share(0)), 0.5);
    constexpr double least = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ((ColourScale{.low = 0, .high = least}.share(least)), 1);
    EXPECT_EQ((ColourScale{.low = 0, .high = least}.share(0)), 0);
}

TEST(ColourScale, OfLogarithmsHasFourDecades)
{
    const ColourScale scale{.low = 0, .high = 0.5, .shade = Shade::log};
    EXPECT_EQ(scale.share(0.5), 1);
    EXPECT_DOUBLE_EQ(scale.share(0.005), 0.5);
    EXPECT_NEAR(scale.share(0.00005), 0, 1e-12);
    EXPECT_LT(scale.share(1e-9), 0);
    EXPECT_EQ(scale.share(0), 0);
}

} // namespace
