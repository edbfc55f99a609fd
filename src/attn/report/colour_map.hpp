// Colours for numbers, and where a number lies between their ends. On a dark ground and on terminals cividis: from dark blue to
// yellow, its luminance rising evenly, nearly the same to people with and without colour blindness (Nuñez, Anderton, Renslow
// 2018, "Optimizing colormaps with consideration for color vision deficiency"). On paper the other way: from paper over blue to
// ink, so that more ink is more weight.
#pragma once

#include "attn/tensor/shape.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace attn::report {

enum class Shade {
    absolute, ///< one scale for all numbers
    row,      ///< each row to its own largest
    log,      ///< by the logarithm, from a ten thousandth of the largest
};
inline constexpr std::array<std::string_view, 3> shade_names{"absolute", "row", "log"};

/// What messages call ShadeOptions::most.
inline constexpr std::string_view most_of_shade = "the number of the strongest colour";

/// What a user asks for.
struct ShadeOptions {
    std::optional<Shade> shade = {};
    std::optional<double> most = {}; ///< the number that has the strongest colour, in place of 1 or the largest
};
/// Absolute unless asked for another. Weights of more than 24 keys by row: one of them is 1 under a causal mask, and nearly all
/// others would have the colour of 0.
[[nodiscard]] inline Shade shade_of(const ShadeOptions& options, Index columns)
{
    constexpr Index many = 24;
    return options.shade.value_or(options.most || columns <= many ? Shade::absolute : Shade::row);
}

/// low < high; with Shade::log only `high` counts.
struct ColourScale {
    double low = 0, high = 1;
    Shade shade = Shade::absolute;

    static constexpr int decades = 4; ///< of Shade::log
    /// 0 … 1 from end to end; beyond them outside of that.
    [[nodiscard]] double share(double value) const
    {
        if (shade == Shade::log) {
            return value > 0 ? 1 + std::log10(value / high) / decades : 0;
        }
        const double range = high - low;
        return std::isinf(range) ? (value / 2 - low / 2) / (high / 2 - low / 2) : (value - low) / range;
    }
};

/// sRGB, 8 bits each.
struct Rgb {
    std::uint8_t r = 0, g = 0, b = 0;
    bool operator==(const Rgb&) const = default;
};

/// The nearest to a share in [0, 1] of `count` even steps, 0 … count-1; what lies outside takes the nearer end, NaN the first.
[[nodiscard]] std::size_t step_of(double share, std::size_t count);

/// Of a share in [0, 1]; what lies outside takes the colour of the nearer end, NaN that of 0.
[[nodiscard]] Rgb colour_of(double share);

/// On paper, likewise: a larger share is never lighter, and one hue is the same to all eyes.
[[nodiscard]] Rgb ink_of(double share);

/// colour_of among a terminal's 256 colours: the number of one of the cube or the greys (16 … 255). A larger share is never
/// darker.
[[nodiscard]] int xterm_colour_of(double share);
/// What xterm shows for such a number.
[[nodiscard]] Rgb xterm_rgb(int colour);

/// The relative luminance of WCAG 2, 0 for black and 1 for white.
[[nodiscard]] double luminance(Rgb colour);
/// The contrast ratio of WCAG 2, 1 … 21.
[[nodiscard]] double contrast(Rgb a, Rgb b);

/// Whether black text has more contrast on it than white.
[[nodiscard]] bool takes_dark_text(Rgb background);

} // namespace attn::report
