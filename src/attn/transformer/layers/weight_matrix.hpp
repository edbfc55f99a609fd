// The weights of a matrix where they lie in a file: numbers of 32 or 16 bits, or rows of quantised blocks. They become float32
// as they are used, a part of a row at a time, never the whole.
#pragma once

#include "attn/tensor/tensor.hpp"
#include "attn/tensor/view.hpp"
#include "attn/transformer/layers/quantised.hpp"

namespace attn::transformer {

struct WeightMatrix {
    TensorView stored;                   ///< the numbers, row-major; of blocks the bytes of each row: uint8 (rows, bytes)
    const BlockFormat* blocks = nullptr; ///< null: numbers

    /// (rows, columns), in numbers.
    [[nodiscard]] Shape shape() const;
};

/// As float32.
[[nodiscard]] Matrix<float> all_rows(const WeightMatrix& matrix);
[[nodiscard]] RowVector<float> row_of(const WeightMatrix& matrix, Index row);

/// Of blocks: `count` numbers of row `row` from column `first` on, both a whole number of blocks.
void widen_blocks(const WeightMatrix& matrix, Index row, Index first, Index count, float* to);

} // namespace attn::transformer
