// Heat maps on a terminal with colours where numbers do not fit: a column a key, two queries a line.
#pragma once

#include "attn/report/buffer.hpp"
#include "attn/report/text/shading.hpp"

#include <span>
#include <string>
#include <vector>

namespace attn::report {

struct HalfBlockMaps {
    std::vector<std::string> names;         ///< one a map; empty: there is but one, without a name
    std::vector<std::string> row_labels;    ///< of every map
    std::vector<std::string> column_labels; ///< likewise
    Index width = 80;                       ///< columns of the terminal
    Shading shading = Shading::colours_16;  ///< one with colours
    Scale scale = {};                       ///< from 0; with Shade::row to the largest of each row
};

/// `values` (maps, rows, columns), row-major. The maps stand side by side where they fit. At the left of them the words of the
/// two rows of a line, shortened; above each map the words of its columns, letter below letter, or where a letter is not one
/// column wide the positions. Columns that do not fit are left out with "…"; what is 0 or no number has no colour.
template <typename Scalar>
void write_half_blocks(Buffer& buffer, std::span<const Scalar> values, const HalfBlockMaps& maps);

} // namespace attn::report
