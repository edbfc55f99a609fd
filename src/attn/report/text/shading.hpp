// The cells of a heat map on a terminal: their colours, or a block character where there are none.
#pragma once

#include "attn/report/colour_map.hpp"
#include "attn/tensor/buffer.hpp"
#include "attn/tensor/shape.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace attn::report {

/// What the terminal can.
enum class Shading {
    none,           ///< plain text
    blocks,         ///< no colours: ░▒▓█ before a number
    colours_16,     ///< those of ECMA-48 (30 … 37, 40 … 47), whatever the terminal makes of them
    colours_256,    ///< xterm's
    colours_24_bit, ///< red, green and blue
};
[[nodiscard]] constexpr bool is_coloured(Shading shading)
{
    return shading >= Shading::colours_16;
}

/// Stands before the largest weight of a row; one column wide.
inline constexpr std::string_view largest_mark = "▸";

/// The escape sequence that begins a cell whose weight has this share of its scale: a background and, so that it can be read on
/// it, black or white. Empty without colours, and for a weight that is 0 or no number, whose cell stays as the terminal is.
[[nodiscard]] std::string cell_colours(Shading shading, double share, bool largest);
/// Ends it.
inline constexpr std::string_view colours_end = "\x1b[m";

/// Two weights in one column of one line.
struct HalfCell {
    std::string colours; ///< the escape sequence that begins it; empty: those of the terminal
    std::string_view character = {};
};
/// "▀" in the colours of the upper weight and, behind it, of the lower one, for a terminal with colours. A weight that is 0 or
/// no number stays as the terminal is: "▄", " ".
[[nodiscard]] HalfCell half_cell(Shading shading, double upper, double lower);

/// " ", "░", "▒", "▓" or "█" for a share near 0, ¼, ½, ¾ or 1.
[[nodiscard]] std::string_view block_of(double share);

struct Legend {
    Shading shading = Shading::none; ///< none: there is no legend
    ColourScale scale = {};
    bool marked = true; ///< the largest of each row has the mark
};
/// The colours or blocks from end to end of the scale, by rows up to the largest of each, and what the mark means. Cut where
/// the terminal is narrower; nothing at all on fewer than 7 columns.
[[nodiscard]] std::string legend_of(const Legend& legend, std::optional<Index> width);
inline constexpr Index widest_legend = 50;

} // namespace attn::report
