#include "attn/report/svg/svg_panels.hpp"

#include "attn/report/svg/markup.hpp"
#include "attn/report/text/display.hpp"
#include "attn/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn::report {

// ---- labels of an axis -----------------------------------------------------------------------------------------------------

namespace {

/// Places that are `step` apart at least.
std::vector<Index> spread(Index count, Index step, std::span<const double> importance)
{
    std::vector<Index> order = indices(count);
    if (!importance.empty()) {
        std::ranges::stable_sort(order, std::ranges::greater{},
                                 [&](Index i) { return importance[static_cast<std::size_t>(i)]; });
    }
    std::vector<bool> taken(static_cast<std::size_t>(count));
    for (const Index place : order) {
        const auto first = taken.begin() + std::max<Index>(place - step + 1, 0);
        const auto last = taken.begin() + std::min(place + step, count);
        if (std::find(first, last, true) == last) {
            taken[static_cast<std::size_t>(place)] = true;
        }
    }
    std::erase_if(order, [&](Index i) { return !taken[static_cast<std::size_t>(i)]; });
    std::ranges::sort(order);
    return order;
}

} // namespace

FittedLabels fit_rows(std::span<const std::string> words, const LabelRoom& room)
{
    const auto step = static_cast<Index>(std::ceil(line_height * room.font / room.pitch - 1e-9));
    FittedLabels fitted;
    for (const Index place : spread(std::ssize(words), std::max<Index>(step, 1), room.importance)) {
        fitted.labels.push_back({place, shortened_to(words[static_cast<std::size_t>(place)], room.longest / room.font)});
        fitted.extent = std::max(fitted.extent, text_width(fitted.labels.back().text) * room.font);
    }
    return fitted;
}

FittedLabels fit_columns(std::span<const std::string> words, const LabelRoom& room)
{
    constexpr double gap = 4; // between neighbours
    FittedLabels level;
    for (const std::string& word : words) {
        if (text_width(word) * room.font + gap > room.pitch) {
            FittedLabels turned = fit_rows(words, room); // on lines of their own across the columns
            turned.turned = true;
            return turned;
        }
        level.labels.push_back({std::ssize(level.labels), word});
    }
    level.extent = line_height * room.font;
    return level;
}

// ---- the key of colours ----------------------------------------------------------------------------------------------------

namespace {

constexpr double bar_width = 12;
constexpr double bar_font = 11;
constexpr double bar_gap = 8;     // between the bar and its numbers
constexpr double swatch_gap = 14; // between the bar and what a blank cell means

/// Of a blank cell: any grey would be read as a weight.
std::string blank_pattern(const Palette& palette)
{
    return fmt::format(
        R"-(<pattern id="blank" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">)-"
        R"(<rect width="5" height="5" fill="{}"/><rect width="1" height="5" fill="{}"/></pattern>)",
        palette.blank, palette.blank_line);
}

std::string shades(const Palette& palette)
{
    constexpr int steps = 20;
    std::string out = R"(<linearGradient id="shades" x1="0" y1="1" x2="0" y2="0">)";
    out += '\n';
    for (int i = 0; i <= steps; ++i) {
        const double share = static_cast<double>(i) / steps;
        out += "<stop" + attribute("offset", share) + attribute("stop-color", hex(palette.colour(share))) + "/>\n";
    }
    return out + "</linearGradient>\n";
}

} // namespace

std::string ColourKey::definitions() const
{
    return fmt::format("<defs>{}{}</defs>\n", shades(palette), blank_pattern(palette));
}

double ColourKey::width() const
{
    const double numbers = widest(bar_texts(picture), [](const auto& text) { return text_width(text.second); });
    return bar_width + bar_gap + std::max(numbers, text_width(picture.blank)) * bar_font;
}

void ColourKey::append(std::string& out, double x, double y) const
{
    const double bar = height - (!picture.blank.empty() ? swatch_gap + bar_width : 0);
    const double label_x = x + bar_width + bar_gap;
    const std::string left = attribute("x", x) + attribute("width", bar_width);
    out += "<rect" + left + attribute("y", y) + attribute("height", bar) + attribute("fill", "url(#shades)") +
           attribute("stroke", palette.grey_ink) + attribute("stroke-width", 0.5) + "/>\n";
    for (const auto& [share, text] : bar_texts(picture)) {
        const double tick_y = y + bar * (1 - share);
        const std::string mark = fmt::format("M{} {}h4", length(x + bar_width), length(tick_y));
        out += "<path" + attribute("d", mark) + attribute("stroke", palette.grey_ink) + "/>\n";
        append_text(out, text, label_x, tick_y, bar_font);
    }
    if (!picture.blank.empty()) {
        const double swatch_y = y + bar + swatch_gap;
        out +=
            "<rect" + left + attribute("y", swatch_y) + attribute("height", bar_width) + attribute("fill", blank_fill) + "/>\n";
        append_text(out, picture.blank, label_x, swatch_y + bar_width / 2, bar_font);
    }
}

} // namespace attn::report
