// A matrix as aligned text, with names for its rows and columns; on a terminal with colours where the numbers do not fit, as a
// heat map: a column per key, two queries per line.
#pragma once

#include "attn/report/text/notation.hpp"
#include "attn/report/text/shading.hpp"
#include "attn/tensor/buffer.hpp"
#include "attn/tensor/shape.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attn::report {

struct GridStyle {
    std::vector<std::string> row_labels;    ///< one per row; empty: rows have no names
    std::vector<std::string> column_labels; ///< one per column
    bool numbered_rows = false;             ///< row labels are numbers: aligned right
    bool sums = false;                      ///< a last column with each row's sum where one of them is not 1
    bool masked = false;                    ///< -inf stands for a masked place
    int digits = 4;                         ///< after the point
    NotationRule notation = NotationRule::fixed;
    std::optional<Index> width;                  ///< columns of the terminal
    Shading shading = Shading::none;             ///< of values on `scale`; the largest of each row is marked
    ColourScale scale = {};                      ///< from 0; with Shade::row to the largest of each row
    std::vector<ColourScale> column_scales = {}; ///< one per column, in place of `scale`; then nothing is marked
};

/// `values` (rows, columns), row-major, one line per row under a line of column names; sums are fixed. Columns that do not fit
/// `width` are left out with "…", from the right, except the sum; numbers are never cut. Colours change nothing else: without
/// escape sequences and marks it is the same text, except for a gap in front where rows have no names. Blocks put columns one
/// further apart, since they and the mark stand there.
template <typename Scalar>
void write_grid(Buffer& buffer, std::span<const Scalar> values, const GridStyle& style);

/// Whether no column has to be left out.
template <typename Scalar>
[[nodiscard]] bool fits(std::span<const Scalar> values, const GridStyle& style);

/// Behind `indent` columns, with blanks in between; lines that would be wider are broken between parts, and begin with as many
/// blanks. Returns how wide the last one is.
Index write_parts(Buffer& buffer, const std::vector<std::string>& parts, std::optional<Index> width, Index indent = 0);

/// "weights, head 0 (6, 6)". The legend of a shading stands behind it or, where the terminal is too narrow, below it.
void write_title(Buffer& buffer, const std::vector<std::string>& parts, std::optional<Index> width, const Legend& legend = {});

/// `values` (maps, rows, columns), row-major; `names`: one per map, or none of the only one; of `style` its labels, width,
/// shading and scale. The maps stand side by side where they fit. At the left of them the words of the two rows of a line,
/// shortened; above each map the words of its columns, letter below letter, or where a letter is not one column wide the
/// positions. Columns that do not fit are left out with "…"; what is 0 or no number has no colour.
template <typename Scalar>
void write_half_blocks(Buffer& buffer, std::span<const Scalar> values, const std::vector<std::string>& names,
                       const GridStyle& style);

} // namespace attn::report
