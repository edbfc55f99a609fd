#include "attn/report/svg/svg_panels.hpp"

#include "attn/report/svg/markup.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using attn::Index;
using attn::report::DrawnLabel;
using attn::report::fit_columns;
using attn::report::fit_rows;
using attn::report::FittedLabels;
using attn::report::line_height;
using attn::report::text_width;

/// Where labels lie along the axis: half of this on both sides of the middle of their place.
double room_of(const FittedLabels& fitted, const DrawnLabel& label, double font, bool columns)
{
    return columns && !fitted.turned ? text_width(label.text) * font : line_height * font;
}

void expect_apart(const FittedLabels& fitted, double pitch, double font, bool columns)
{
    for (std::size_t i = 0; i + 1 < fitted.labels.size(); ++i) {
        const DrawnLabel& a = fitted.labels[i];
        const DrawnLabel& b = fitted.labels[i + 1];
        const double between = pitch * static_cast<double>(b.place - a.place);
        EXPECT_GE(between + 1e-9, (room_of(fitted, a, font, columns) + room_of(fitted, b, font, columns)) / 2)
            << a.text << " and " << b.text;
    }
}

std::vector<std::string> places_of(const FittedLabels& fitted)
{
    std::vector<std::string> texts;
    for (const DrawnLabel& label : fitted.labels) {
        texts.push_back(std::to_string(label.place) + label.text);
    }
    return texts;
}

TEST(AxisLabels, AreLevelWhereEveryWordFits)
{
    const std::vector<std::string> words{"Life", "is", "short"};
    const FittedLabels fitted = fit_columns(words, {.pitch = 60, .font = 12, .longest = 100, .importance = {}});
    EXPECT_FALSE(fitted.turned);
    EXPECT_EQ(fitted.labels.size(), 3U);
}

TEST(AxisLabels, AreTurnedWhereOneDoesNotFit)
{
    const std::vector<std::string> words{"Life", "is", "interminable"};
    const FittedLabels fitted = fit_columns(words, {.pitch = 40, .font = 12, .longest = 60, .importance = {}});
    EXPECT_TRUE(fitted.turned);
    EXPECT_EQ(places_of(fitted), (std::vector<std::string>{"0Life", "1is", "2intermi\u2026"}));
    EXPECT_LE(fitted.extent, 60);
}

TEST(AxisLabels, AreThinnedOutWhereRowsAreThin)
{
    const std::vector<std::string> words{"a", "b", "c", "d", "e", "f", "g"};
    EXPECT_EQ(places_of(fit_rows(words, {.pitch = 5, .font = 10, .longest = 99, .importance = {}})),
              (std::vector<std::string>{"0a", "3d", "6g"}));
    EXPECT_EQ(fit_rows(words, {.pitch = 13, .font = 10, .longest = 99, .importance = {}}).labels.size(), 7U);
}

TEST(AxisLabels, KeepTheImportantOnesWhenAskedTo)
{
    const std::vector<std::string> words{"a", "b", "c", "d", "e", "f", "g"};
    const std::vector<double> importance{0.1, 0.2, 0.1, 0.9, 0.8, 0.1, 0.3};
    EXPECT_EQ(places_of(fit_columns(words, {.pitch = 5, .font = 10, .longest = 99, .importance = importance})),
              (std::vector<std::string>{"0a", "3d", "6g"}));
    const std::vector<double> late{0.1, 0.2, 0.1, 0.1, 0.8, 0.1, 0.3};
    EXPECT_EQ(places_of(fit_columns(words, {.pitch = 5, .font = 10, .longest = 99, .importance = late})),
              (std::vector<std::string>{"1b", "4e"}));
}

/// Words of the alphabets that fonts draw wide and narrow.
std::vector<std::string> some_words(std::mt19937& random)
{
    const std::vector<std::string> letters{"a", "i", "W", "m", "\u4eba", "\U0001f600", "e\u0301", "\u0628", "\u042e", "-"};
    std::vector<std::string> words(1 + random() % 90);
    for (std::string& word : words) {
        for (std::size_t length = random() % (random() % 8 == 0 ? 40 : 9); length > 0; --length) {
            word += letters[random() % letters.size()];
        }
    }
    return words;
}

TEST(AxisLabels, NeverOverlap)
{
    std::mt19937 random(123);
    for (int round = 0; round < 2000; ++round) {
        const std::vector<std::string> words = some_words(random);
        const double pitch = 2 + static_cast<double>(random() % 90);
        const double font = 8 + static_cast<double>(random() % 5);
        std::vector<double> importance(round % 2 == 0 ? 0 : words.size());
        for (double& each : importance) {
            each = static_cast<double>(random() % 100);
        }
        const FittedLabels rows = fit_rows(words, {pitch, font, 120, {}});
        const FittedLabels columns = fit_columns(words, {pitch, font, 120, importance});
        expect_apart(rows, pitch, font, false);
        expect_apart(columns, pitch, font, true);
        for (const FittedLabels& fitted : {rows, columns}) {
            ASSERT_FALSE(fitted.labels.empty());
            for (const DrawnLabel& label : fitted.labels) {
                const double width = text_width(label.text) * font;
                EXPECT_LE(fitted.turned ? width : 0, fitted.extent);
                EXPECT_LE(width, std::max(120.0, pitch) + 1e-9);
            }
        }
    }
}

} // namespace
