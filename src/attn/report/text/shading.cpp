#include "attn/report/text/shading.hpp"

#include "attn/report/colour_map.hpp"
#include "attn/report/text/display.hpp"

#include <algorithm>
#include <array>

namespace attn::report {
namespace {

/// Of the eight that all terminals have, from dark and cold to light and warm as in cividis: black, blue, cyan, yellow. They
/// differ on a dark and on a light terminal (white would be lost there), and for the colour-blind.
struct Basic {
    std::string_view background, text;
};
constexpr std::array basics{Basic{"40", "37"}, Basic{"44", "37"}, Basic{"46", "30"}, Basic{"43", "30"}};

std::string true_colour(Rgb colour)
{
    return "2;" + std::to_string(colour.r) + ';' + std::to_string(colour.g) + ';' + std::to_string(colour.b);
}

/// A parameter of "select graphic rendition".
std::string background(Shading shading, double weight)
{
    switch (shading) {
    case Shading::colours_16: return std::string(basics.at(step_of(weight, basics.size())).background);
    case Shading::colours_256: return "48;5;" + std::to_string(xterm_colour_of(weight));
    default: return "48;" + true_colour(colour_of(weight));
    }
}

std::string foreground(Shading shading, double weight)
{
    constexpr Rgb black{0, 0, 0};
    constexpr Rgb white{255, 255, 255};
    switch (shading) {
    case Shading::colours_16: return std::string(basics.at(step_of(weight, basics.size())).text);
    case Shading::colours_256: return takes_dark_text(xterm_rgb(xterm_colour_of(weight))) ? "38;5;16" : "38;5;231";
    default: return "38;" + true_colour(takes_dark_text(colour_of(weight)) ? black : white);
    }
}

/// What stands for `weight` in the legend, one column wide.
std::string sample(Shading shading, double weight)
{
    return is_coloured(shading) ? "\x1b[" + background(shading, weight) + "m " : std::string(block_of(weight));
}

} // namespace

std::string cell_colours(Shading shading, double weight, bool largest)
{
    if (!is_coloured(shading) || !(weight > 0)) {
        return "";
    }
    // Bold is no colour of its own but for 16 colours, where some terminals make grey of a bold black.
    const std::string_view bold = largest && shading != Shading::colours_16 ? "1;" : "";
    return "\x1b[" + std::string(bold) + foreground(shading, weight) + ';' + background(shading, weight) + 'm';
}

std::string_view block_of(double weight)
{
    constexpr std::array<std::string_view, 5> blocks{" ", "░", "▒", "▓", "█"};
    return weight > 0 ? blocks.at(step_of(weight, blocks.size())) : blocks.front();
}

std::string legend_of(Shading shading, std::optional<Index> width)
{
    constexpr std::string_view start = "0 ";
    constexpr std::string_view stop = " 1";
    constexpr Index most = 24; // samples
    constexpr Index fewest = 3;
    const Index room = std::min(width.value_or(widest_legend), widest_legend) - std::ssize(start) - std::ssize(stop);
    std::string meaning;
    for (const std::string_view words : {" largest of its row", " largest"}) {
        const std::string whole = "  " + std::string(largest_mark) + std::string(words);
        if (meaning.empty() && display_width(whole) + fewest <= room) {
            meaning = whole;
        }
    }
    const Index samples = std::min(most, room - display_width(meaning));
    if (shading == Shading::none || samples < fewest) {
        return "";
    }
    std::string legend(start);
    for (Index i = 0; i < samples; ++i) {
        legend += sample(shading, static_cast<double>(i) / static_cast<double>(samples - 1));
    }
    return legend.append(is_coloured(shading) ? colours_end : "").append(stop) + meaning;
}

} // namespace attn::report
