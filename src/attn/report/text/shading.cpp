#include "attn/report/text/shading.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/colour_map.hpp"
#include "attn/report/text/display.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace attn::report {
namespace {

/// Of the eight that all terminals have, from dark and cold to light and warm as in cividis: black, blue, cyan, yellow. They
/// differ on a dark and on a light terminal (white would be lost there), and for the colour-blind.
struct Basic {
    char colour;
    std::string_view text; ///< what can be read on it
};
constexpr std::array basics{Basic{'0', "37"}, Basic{'4', "37"}, Basic{'6', "30"}, Basic{'3', "30"}};

std::string true_colour(Rgb colour)
{
    return "2;" + std::to_string(colour.r) + ';' + std::to_string(colour.g) + ';' + std::to_string(colour.b);
}

/// What a share's colour is of, as it begins a parameter of "select graphic rendition".
enum class Ink : char { text = '3', ground = '4' };

std::string colour_code(Shading shading, Ink ink, double share)
{
    const std::string start(1, static_cast<char>(ink));
    switch (shading) {
    case Shading::colours_16: return start + basics.at(step_of(share, basics.size())).colour;
    case Shading::colours_256: return start + "8;5;" + std::to_string(xterm_colour_of(share));
    default: return start + "8;" + true_colour(colour_of(share));
    }
}

/// Of text on the colour of a share.
std::string foreground(Shading shading, double share)
{
    constexpr Rgb black{0, 0, 0};
    constexpr Rgb white{255, 255, 255};
    switch (shading) {
    case Shading::colours_16: return std::string(basics.at(step_of(share, basics.size())).text);
    case Shading::colours_256: return takes_dark_text(xterm_rgb(xterm_colour_of(share))) ? "38;5;16" : "38;5;231";
    default: return "38;" + true_colour(takes_dark_text(colour_of(share)) ? black : white);
    }
}

/// What stands for `share` in the legend, one column wide.
std::string sample(Shading shading, double share)
{
    return is_coloured(shading) ? "\x1b[" + colour_code(shading, Ink::ground, share) + "m " : std::string(block_of(share));
}

} // namespace

std::string cell_colours(Shading shading, double share, bool largest)
{
    if (!is_coloured(shading) || !(share > 0)) {
        return "";
    }
    // Bold is no colour of its own but for 16 colours, where some terminals make grey of a bold black.
    const std::string_view bold = largest && shading != Shading::colours_16 ? "1;" : "";
    return "\x1b[" + std::string(bold) + foreground(shading, share) + ';' + colour_code(shading, Ink::ground, share) + 'm';
}

HalfCell half_cell(Shading shading, double upper, double lower)
{
    if (!(upper > 0)) {
        return !(lower > 0) ? HalfCell{"", " "} : HalfCell{"\x1b[0;" + colour_code(shading, Ink::text, lower) + 'm', "▄"};
    }
    const std::string behind = lower > 0 ? ';' + colour_code(shading, Ink::ground, lower) : "";
    return {"\x1b[0;" + colour_code(shading, Ink::text, upper) + behind + 'm', "▀"};
}

std::string_view block_of(double share)
{
    constexpr std::array<std::string_view, 5> blocks{" ", "░", "▒", "▓", "█"};
    return share > 0 ? blocks.at(step_of(share, blocks.size())) : blocks.front();
}

std::string legend_of(const Legend& legend, std::optional<Index> width)
{
    const auto& [shading, scale, marked] = legend;
    const auto number = [](double value) { return math::shortest(static_cast<float>(value)); };
    const bool by_row = scale.shade == Shade::row;
    const std::string start =
        scale.shade == Shade::log ? number(scale.high / std::pow(10.0, ColourScale::decades)) + " " : "0 ";
    const std::string stop = by_row ? "" : " " + (scale.high == 1 ? "1" : number(scale.high)); // of rows the words say it
    constexpr Index most = 24;                                                                 // samples
    constexpr Index fewest = 3;
    const Index room = std::min(width.value_or(widest_legend), widest_legend) - std::ssize(start) - std::ssize(stop);
    std::string meaning;
    for (const std::string_view words : {" largest of its row", " largest"}) {
        const std::string explained = (marked ? "  " + std::string(largest_mark) : "") + std::string(words);
        if ((marked || by_row) && meaning.empty() && display_width(explained) + fewest <= room) {
            meaning = explained;
        }
    }
    const Index samples = std::min(most, room - display_width(meaning));
    if (shading == Shading::none || samples < fewest) {
        return "";
    }
    std::string text(start);
    for (Index i = 0; i < samples; ++i) {
        text += sample(shading, static_cast<double>(i) / static_cast<double>(samples - 1));
    }
    return text.append(is_coloured(shading) ? colours_end : "").append(stop) + meaning;
}

} // namespace attn::report
