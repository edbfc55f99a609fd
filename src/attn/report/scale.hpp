// Where a number lies between the ends of the colours that it is drawn in.
#pragma once

#include "attn/tensor/shape.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace attn::report {

enum class Shade {
    absolute, ///< one scale for all numbers
    row,      ///< each row to its own largest
    log,      ///< by the logarithm, from a ten thousandth of the largest
};
inline constexpr std::array<std::string_view, 3> shade_names{"absolute", "row", "log"};

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
struct Scale {
    double low = 0, high = 1;
    Shade shade = Shade::absolute;

    static constexpr int decades = 4; ///< of Shade::log
    /// 0 … 1 from end to end; beyond them outside of that. By halves, for high - low may be more than a double can hold.
    [[nodiscard]] double share(double value) const
    {
        if (shade == Shade::log) {
            return value > 0 ? 1 + std::log10(value / high) / decades : 0;
        }
        return (value / 2 - low / 2) / (high / 2 - low / 2);
    }
};

} // namespace attn::report
