// Result → SVG 1.1: heat maps, or words with lines between them, one panel per head.
//
// No script, no style sheet, nothing from elsewhere: it shows in browsers, Inkscape, librsvg and as a picture of a README, on
// light and dark pages. Sizes are pixels; the font is whatever the viewer has, and labels are fitted for the widest usual one.
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/report/colour_map.hpp"
#include "attn/report/svg/picture.hpp"
#include "attn/tensor/buffer.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attn::report {

// The colours of pictures, on paper and on a dark ground.

enum class Ground { light, dark };
inline constexpr std::array<std::string_view, 2> ground_names{"light", "dark"};

struct Palette {
    std::string_view ground, ink, grey_ink;
    std::string_view blank, blank_line; ///< of a place that has no colour of the scale, hatched
    std::string_view line;              ///< between words
    Rgb (*colour)(double share);        ///< of the scale
};

/// One per ground. Text has a contrast of 4.5 with its ground at least, the inks with the hatched places, too.
inline constexpr std::array palettes{Palette{.ground = "#fff",
                                             .ink = "#1b1f24",
                                             .grey_ink = "#57606a",
                                             .blank = "#fff",
                                             .blank_line = "#c6ccd3",
                                             .line = "#1f4e8c",
                                             .colour = ink_of},
                                     Palette{.ground = "#14171c",
                                             .ink = "#e6eaef",
                                             .grey_ink = "#a3adb8",
                                             .blank = "#14171c",
                                             .blank_line = "#3a424c",
                                             .line = "#8ab8ff",
                                             .colour = colour_of}};
[[nodiscard]] inline const Palette& palette_of(Ground ground)
{
    return palettes.at(static_cast<std::size_t>(ground));
}

enum class Plot { heat_map, arcs };
inline constexpr std::array<std::string_view, 2> plot_names{"heatmap", "arcs"};

/// From so many words on arcs are too many to be told apart: unless told otherwise, each head draws the strongest, two per
/// word.
inline constexpr Index many_arc_words = 30;

struct SvgOptions {
    Plot plot = Plot::heat_map;
    int digits = 2;            ///< after the point, of the values in the cells
    std::optional<Index> most; ///< of arcs: so many lines per head, the strongest; absent: all that can be seen of few words
    std::string title;         ///< empty: the name of the array
    ShadeOptions shade = {};   ///< of arcs only `most` counts
    Ground ground = Ground::light;
    std::string remark = {};  ///< below the picture, for everybody to read; empty: none
    std::string caption = {}; ///< below that; empty: none
};

/// Draws the array that a result shows (picture.hpp), weights alone as arcs; of several layers their weights, as a grid of
/// small heat maps whose rows are layers, whose columns heads, which may be other ones in each layer. `summaries`, of each
/// layer or of none, say what heads of weights do: beside their names, or below each map and by the colour of its frame.
/// Throws Error: internal when there is nothing that can be drawn, too_large for what would take more than 30 MB,
/// before anything is written.
void write_svg(const model::Result& result, std::span<const model::Summary> summaries, const SvgOptions& options, Buffer& out);

/// What is known of a picture before there are numbers.
struct PlannedPicture {
    Plot plot = Plot::heat_map;
    bool weights = true; ///< otherwise scores
    bool layers = false; ///< it shows several
};
/// Throws Error(too_large) for an array (heads, rows, columns) with more numbers than a picture could hold, or more rows or
/// columns than one heat map has room for.
void require_picture_size(const Shape& shape, const PlannedPicture& planned);

/// Any picture as a heat map. Throws Error(too_large) likewise.
void write_heat_map(const Picture& picture, const SvgOptions& options, Buffer& buffer);

} // namespace attn::report
