#include "attn/report/text/shading.hpp"

#include "attn/report/colour_map.hpp"
#include "attn/report/text/display.hpp"
#include "attn/report/text/grid.hpp"
#include "attn/report/text/table.hpp"
#include "unit/report/sample.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <sstream>

namespace {

using attn::Index;
using attn::Tensor;
using attn::model::Item;
using attn::model::Result;
using attn::report::legend_of;
using attn::report::Shading;

constexpr std::array every_shading{Shading::none, Shading::blocks, Shading::colours_16, Shading::colours_256,
                                   Shading::colours_24_bit};

std::string shaded_table(const Result& result, Shading shading, std::optional<Index> width = {})
{
    const attn::report::TableOptions options{.digits = 2, .width = width, .shading = shading, .all_digits = true};
    return sample::text_of([&](auto& out) { attn::report::write_table(result, options, out); });
}

/// Weights 0, 0.25 and 0.75 in one row, 0.5 and 0.5 in the other.
Result three_keys()
{
    Result result = sample::two_words();
    result.cross = true;
    result.key_tokens = {"a", "b", "c"};
    result.front().arrays = {{"weights", Tensor<float>({1, 2, 3}, {0, 0.25F, 0.75F, 0.5F, 0.5F, 0})}};
    result.show = {Item::weights};
    return result;
}

std::string without_escapes(const std::string& text)
{
    static const std::regex escape("\x1b\\[[0-9;]*m");
    return std::regex_replace(text, escape, "");
}

/// The legend stands behind the title or below it.
std::string without(const std::string& legend, std::string text)
{
    const std::size_t at = text.find(legend);
    if (legend.empty() || at == std::string::npos) {
        EXPECT_EQ(legend, "") << text;
        return text;
    }
    const std::size_t gap = text[at - 1] == '\n' ? 1 : 2;
    return text.erase(at - gap, gap + legend.size());
}

/// A mark where a space was.
std::string without_marks(std::string text)
{
    for (std::size_t at = text.find(attn::report::largest_mark); at != std::string::npos;
         at = text.find(attn::report::largest_mark)) {
        text.replace(at, attn::report::largest_mark.size(), " ");
    }
    return text;
}

TEST(Shading, OfNothingIsPlainText)
{
    EXPECT_EQ(shaded_table(three_keys(), Shading::none), "weights (2, 3)\n"
                                                         "       a     b     c\n"
                                                         "to  0.00  0.25  0.75\n"
                                                         "be  0.50  0.50  0.00\n");
}

TEST(Shading, PutsBlocksBeforeNumbers)
{
    EXPECT_EQ(shaded_table(three_keys(), Shading::blocks),
              "weights (2, 3)  0    ░░░░░░▒▒▒▒▒▒▓▓▓▓▓▓███ 1  ▸ largest of its row\n"
              "        a      b      c\n"
              "to   0.00 ░ 0.25 ▓▸0.75\n"
              "be ▒▸0.50 ▒▸0.50   0.00\n");
}

TEST(Shading, PaintsCellsWithWhatThereIsOf16Colours)
{
    EXPECT_EQ(shaded_table(three_keys(), Shading::colours_16),
              "weights (2, 3)  0 \x1b[40m \x1b[40m \x1b[40m \x1b[40m \x1b[44m \x1b[44m \x1b[44m \x1b[44m \x1b[44m \x1b[44m "
              "\x1b[44m \x1b[44m "
              "\x1b[46m \x1b[46m \x1b[46m \x1b[46m \x1b[46m \x1b[46m \x1b[46m \x1b[46m \x1b[43m \x1b[43m \x1b[43m \x1b[43m "
              "\x1b[m 1  ▸ largest of its row\n"
              "       a     b     c\n"
              "to  0.00 \x1b[37;44m 0.25 \x1b[m\x1b[30;46m▸0.75\x1b[m\n"
              "be \x1b[30;46m▸0.50 \x1b[m\x1b[30;46m▸0.50 \x1b[m 0.00\n");
}

TEST(Shading, PaintsCellsWith256Colours)
{
    const std::string table = shaded_table(three_keys(), Shading::colours_256);
    EXPECT_EQ(table.substr(table.find('\n')),
              "\n       a     b     c\n"
              "to  0.00 \x1b[38;5;231;48;5;239m 0.25 \x1b[m\x1b[1;38;5;16;48;5;144m▸0.75\x1b[m\n"
              "be \x1b[1;38;5;16;48;5;244m▸0.50 \x1b[m\x1b[1;38;5;16;48;5;244m▸0.50 \x1b[m 0.00\n");
}

TEST(Shading, PaintsCellsWith24BitColours)
{
    const std::string table = shaded_table(three_keys(), Shading::colours_24_bit);
    EXPECT_EQ(table.substr(table.find('\n')),
              "\n       a     b     c\n"
              "to  0.00 \x1b[38;2;255;255;255;48;2;67;78;108m 0.25 \x1b[m\x1b[1;38;2;0;0;0;48;2;187;173;109m▸0.75\x1b[m\n"
              "be \x1b[1;38;2;0;0;0;48;2;125;124;120m▸0.50 \x1b[m\x1b[1;38;2;0;0;0;48;2;125;124;120m▸0.50 \x1b[m 0.00\n");
}

TEST(Shading, IsOfWeightsAlone)
{
    Result result = sample::two_words();
    result.show = {Item::tokens, Item::scores, Item::context};
    for (const Shading shading : every_shading) {
        EXPECT_EQ(shaded_table(result, shading), shaded_table(result, Shading::none));
    }
}

TEST(Shading, HasOneLegendForAllHeads)
{
    Result result = sample::two_words();
    result.front().arrays = {{"weights", Tensor<float>({2, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1})}};
    result.show = {Item::weights};
    const std::string table = shaded_table(result, Shading::blocks);
    EXPECT_EQ(table.find("largest"), table.rfind("largest"));
    EXPECT_TRUE(table.substr(0, table.find('\n')).ends_with("largest of its row"));
}

TEST(Shading, MarksTheColumnsLeftOutWhereTheLargestIsAmongThem)
{
    Result result = three_keys();
    result.front().arrays = {{"weights", Tensor<float>({1, 2, 3}, {0, 0.25F, 0.75F, 0.5F, 0.25F, 0})}};
    EXPECT_EQ(shaded_table(result, Shading::colours_16, 18), "weights (2, 3)\n"
                                                             "0 \x1b[40m \x1b[46m \x1b[43m \x1b[m 1  ▸ largest\n"
                                                             "       a  …   sum\n"
                                                             "to  0.00 ▸…  1.00\n"
                                                             "be \x1b[30;46m▸0.50 \x1b[m …  0.75\n");
}

TEST(Shading, LeavesRowsWithoutAWeightAloneAndWhatIsNoNumber)
{
    Result result = three_keys();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    result.front().arrays = {{"weights", Tensor<float>({1, 2, 3}, {0, 0, 0, nan, nan, nan})}};
    for (const Shading shading : {Shading::colours_16, Shading::colours_256, Shading::colours_24_bit}) {
        EXPECT_EQ(without(legend_of({.shading = shading}, {}), shaded_table(result, shading)),
                  shaded_table(result, Shading::none));
    }
}

/// Escape sequences begin and end within a line.
void expect_whole_lines(const std::string& text)
{
    bool open = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b') {
            const std::size_t end = text.find('m', i);
            ASSERT_NE(end, std::string::npos);
            open = text.substr(i, end + 1 - i) != attn::report::colours_end;
        } else if (text[i] == '\n') {
            EXPECT_FALSE(open) << text.substr(0, i);
        }
    }
}

Result random_weights(std::mt19937& random)
{
    static constexpr std::array words{"Life", "\u4eba\u4eba", "e\u0301", "antidisestablishmentarianism", "a\x1b[31mb"};
    Result result = sample::two_words();
    result.tokens.clear();
    for (auto n = 1 + random() % 7; n > 0; --n) {
        result.tokens.emplace_back(words.at(random() % words.size()));
    }
    const Index T = std::ssize(result.tokens);
    result.front().arrays = {{"weights", sample::random_tensor<float>({1, T, T}, random)}};
    result.show = {Item::weights};
    return result;
}

void expect_same_text(const Result& result, std::optional<Index> width)
{
    const std::string plain = shaded_table(result, Shading::none, width);
    for (const Shading shading : {Shading::colours_16, Shading::colours_256, Shading::colours_24_bit}) {
        const std::string shaded = shaded_table(result, shading, width);
        expect_whole_lines(shaded);
        EXPECT_EQ(without_marks(without_escapes(without(legend_of({.shading = shading}, width), shaded))), plain);
    }
}

TEST(Shading, WithoutNumbersKeepsToTheTerminal)
{
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        const Result result = random_weights(random);
        const auto width = static_cast<Index>(7 + random() % 60);
        const std::string text = sample::text_of([&](auto& out) {
            attn::report::write_table(result, {.digits = 4, .width = width, .shading = Shading::colours_16}, out);
        });
        expect_whole_lines(text);
        std::istringstream lines(without_escapes(text));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(attn::report::display_width(line), width) << line;
        }
    }
}

TEST(Shading, ChangesNothingElseAndLeavesNothingBehindALine)
{
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        const Result result = random_weights(random);
        expect_same_text(result, std::nullopt);
        expect_same_text(result, static_cast<Index>(15 + random() % 100));
    }
}

TEST(Shading, WithBlocksFitsTheTerminal)
{
    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        const Result result = random_weights(random);
        const auto width = static_cast<Index>(15 + random() % 100);
        std::istringstream lines(shaded_table(result, Shading::blocks, width));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_EQ(line.find('\x1b'), std::string::npos);
            EXPECT_LE(attn::report::display_width(line), width) << line;
        }
    }
}

TEST(Shading, CanBeRead)
{
    using attn::report::Rgb;
    static const std::regex true_colour("\x1b\\[(?:1;)?38;2;(\\d+);(\\d+);(\\d+);48;2;(\\d+);(\\d+);(\\d+)m");
    static const std::regex of_256("\x1b\\[(?:1;)?38;5;(\\d+);48;5;(\\d+)m");
    for (int i = 1; i <= 1000; ++i) {
        std::smatch parts;
        std::string cell = attn::report::cell_colours(Shading::colours_24_bit, i / 1000.0, i % 2 == 0);
        ASSERT_TRUE(std::regex_match(cell, parts, true_colour)) << cell;
        const auto level = [&](std::size_t place) { return static_cast<std::uint8_t>(std::stoi(parts[place])); };
        EXPECT_GE(attn::report::contrast({level(1), level(2), level(3)}, {level(4), level(5), level(6)}), 4.5) << i;
        cell = attn::report::cell_colours(Shading::colours_256, i / 1000.0, i % 2 == 0);
        ASSERT_TRUE(std::regex_match(cell, parts, of_256)) << cell;
        EXPECT_GE(
            attn::report::contrast(attn::report::xterm_rgb(std::stoi(parts[1])), attn::report::xterm_rgb(std::stoi(parts[2]))),
            4.5)
            << i;
    }
}

TEST(Shading, HasALegendThatFits)
{
    EXPECT_EQ(legend_of({.shading = Shading::none}, {}), "");
    EXPECT_EQ(legend_of({.shading = Shading::blocks}, 40), "0   ░░░▒▒▒▒▓▓▓██ 1  ▸ largest of its row");
    EXPECT_EQ(legend_of({.shading = Shading::blocks}, 20), "0  ░▒▓█ 1  ▸ largest");
    EXPECT_EQ(legend_of({.shading = Shading::blocks}, 8), "0  ░▓█ 1");
    EXPECT_EQ(legend_of({.shading = Shading::blocks}, 6), "");
}

TEST(Shading, HasALegendForEveryWidth)
{
    for (Index width = 1; width < 100; ++width) {
        for (const Shading shading : every_shading) {
            const std::string legend = without_escapes(legend_of({.shading = shading}, width));
            EXPECT_LE(attn::report::display_width(legend), width);
        }
    }
}

} // namespace
