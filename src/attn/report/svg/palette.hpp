// The colours of pictures, on paper and on a dark ground.
#pragma once

#include "attn/report/colour_map.hpp"

#include <array>
#include <string_view>

namespace attn::report {

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

} // namespace attn::report
