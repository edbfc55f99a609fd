// What every picture of a result shows: one matrix a head, its words, and the range of its numbers.
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/report/colour_map.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace attn::report {

/// "scores, …, weights", the names of what can be drawn, all of them (H, T, S).
[[nodiscard]] std::string drawn_names();

/// What a picture shows belongs to its result, which outlives it: a copy as doubles would be twice as large.
using Numbers = std::variant<std::span<const float>, std::span<const double>>;

struct Picture {
    std::string array; ///< "weights", but "numbers" of those that are none
    Index heads = 0, rows = 0, columns = 0;
    std::vector<std::string> head_names;              ///< one per head; empty where there is only the one
    std::vector<std::string> head_roles;              ///< "previous 0.94", or empty for a head that does nothing special
    Numbers values;                                   ///< (heads, rows, columns)
    bool weights = false;                             ///< given as such, otherwise scores
    bool doubtful = false;                            ///< but none (model::doubt_about)
    std::vector<bool> empty_zeros;                    ///< as values: weights of 0 where a mask is; empty: there are none
    std::vector<std::string> row_words, column_words; ///< drawable
    bool rows_are_keys = false;                       ///< of scores that are computed as K·Qᵀ
    bool right_to_left = false;                       ///< the first column stands at the right
    ColourScale scale;                                ///< its ends are those of the colour bar
    std::vector<ColourScale> row_scales;              ///< with Shade::row, one per row of each head
    std::string blank;                                ///< what the blank places are; empty: there are none
    std::string note;                                 ///< what rows and columns are; empty: words
    std::string title;                                ///< "weights of layer 5"; empty: the array and its shape
    bool beyond = false;                              ///< numbers lie above the scale

    [[nodiscard]] Index cells() const { return heads * rows * columns; }
    [[nodiscard]] std::size_t place(Index head, Index row, Index column) const
    {
        return static_cast<std::size_t>((head * rows + row) * columns + column);
    }
    [[nodiscard]] double value(std::size_t place) const
    {
        return std::visit([&](const auto& numbers) { return static_cast<double>(numbers[place]); }, values);
    }
    [[nodiscard]] double at(Index head, Index row, Index column) const { return value(place(head, row, column)); }
    /// A masked place, or what is not a finite number.
    [[nodiscard]] bool is_blank(std::size_t place) const;
    /// Where the value at a place lies on its scale: 0 … 1.
    [[nodiscard]] double share(std::size_t place) const
    {
        const ColourScale& its =
            row_scales.empty() ? scale : row_scales[place / static_cast<std::size_t>(std::max<Index>(columns, 1))];
        return its.share(value(place));
    }
    /// The shortest decimal that reads back.
    [[nodiscard]] std::string exact(double value) const;
    /// "is → eat: 0.63677466", from query to key; drawable.
    [[nodiscard]] std::string relation(Index row, Index column, double value) const;
    /// With `digits` after the point, or in scientific notation where that would be long.
    [[nodiscard]] std::string rounded(double value, int digits) const;
};

/// Throws Error(too_large) for more numbers (heads, rows, columns) than a picture could hold.
void require_cells(const Shape& shape);

/// Of the first of drawn_items that the result shows, in one of its layers. Throws Error(internal) when it shows none of them,
/// and Error(too_large) for more numbers than a picture could hold. Weights are drawn from 0 to 1, or to a round number above
/// the largest when all are small; whatever else, and weights that are none, from its least to its largest. Throws Error(usage)
/// for the logarithms of what is not a weight, and for a largest number that none is below.
[[nodiscard]] Picture picture_of(const model::Result& result, const model::Layer& layer, const ShadeOptions& shade);

/// "; colours: each row to its own largest, 0.04 to 1.00"; empty where all rows have one scale.
[[nodiscard]] std::string row_scale_text(const Picture& picture);

/// What the colour bar says: texts at their shares of it.
[[nodiscard]] std::vector<std::pair<double, std::string>> bar_texts(const Picture& picture);

/// Round numbers from `low` to `high`, at most six.
struct Ticks {
    std::vector<double> values;
    int digits = 0; ///< after the point, as many as they need
    [[nodiscard]] std::string text(double value) const;
};
[[nodiscard]] Ticks round_ticks(double low, double high);

/// Throws Error(too_large): "2000 × 2000 cells", what is allowed, "what fits into 30 MB", and what to draw instead.
[[noreturn]] void refuse_picture(const Picture& picture, const std::string& size, const std::string& allowed,
                                 bool rows_help = true);

} // namespace attn::report
