// Which labels of an axis are drawn, and how, so that none runs into another.
#pragma once

#include "attn/tensor/shape.hpp"

#include <span>
#include <string>
#include <vector>

namespace attn::report {

/// Baselines are this many font sizes apart at least.
inline constexpr double line_height = 1.3;

struct DrawnLabel {
    Index place = 0; ///< on the axis
    std::string text;
};

struct FittedLabels {
    std::vector<DrawnLabel> labels; ///< in the order of their places
    bool turned = false;            ///< by 90 degrees: they read upwards
    double extent = 0;              ///< pixels across the axis: of rows the widest label, of columns the height of them all
};

struct LabelRoom {
    double pitch = 0;   ///< pixels from one place to the next
    double font = 0;    ///< size in pixels
    double longest = 0; ///< pixels that a label may have; what is longer is shortened
    /// One per place: where not every label has room, those of the most important places are drawn; empty: every n-th.
    std::span<const double> importance;
};

/// Below each other, each beside the middle of its place.
[[nodiscard]] FittedLabels fit_rows(std::span<const std::string> words, const LabelRoom& room);

/// Side by side, each over the middle of its place: level where each word fits into its column whole, else turned.
[[nodiscard]] FittedLabels fit_columns(std::span<const std::string> words, const LabelRoom& room);

} // namespace attn::report
