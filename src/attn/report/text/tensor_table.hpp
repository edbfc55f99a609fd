// Tensor → text tables for people, as those of a run (table.hpp), with positions for words.
#pragma once

#include "attn/tensor/buffer.hpp"
#include "attn/tensor/view.hpp"

#include <optional>
#include <string_view>

namespace attn::report {

struct TensorTable {
    std::string_view name;           ///< "context"
    bool masked = false;             ///< -inf is a masked score
    bool sums = false;               ///< a last column with the sum of a row where one is not 1
    std::optional<Index> width = {}; ///< columns of the terminal; absent: everything
};

/// A floating-point tensor of up to four dimensions, (B, H, rows, columns): a table for each matrix. Holds one at a time.
void write_tensor_table(const TensorView& tensor, const TensorTable& options, Buffer& buffer);

} // namespace attn::report
