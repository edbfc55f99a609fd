// Heat maps on a terminal with colours where numbers do not fit: a column a key, two queries a line.
#pragma once

#include "attn/report/text/grid.hpp"

#include <span>
#include <string>
#include <vector>

namespace attn::report {

/// `values` (maps, rows, columns), row-major; `names`: one a map, or none of the only one; of `style` its labels, width,
/// shading and scale. The maps stand side by side where they fit. At the left of them the words of the two rows of a line,
/// shortened; above each map the words of its columns, letter below letter, or where a letter is not one column wide the
/// positions. Columns that do not fit are left out with "…"; what is 0 or no number has no colour.
template <typename Scalar>
void write_half_blocks(Buffer& buffer, std::span<const Scalar> values, const std::vector<std::string>& names,
                       const GridStyle& style);

} // namespace attn::report
