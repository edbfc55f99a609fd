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

/// Text has a contrast of 4.5 with its ground at least, the inks with the hatched places, too.
[[nodiscard]] const Palette& palette_of(Ground ground);

} // namespace attn::report
