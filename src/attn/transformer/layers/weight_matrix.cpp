#include "attn/transformer/layers/weight_matrix.hpp"

namespace attn::transformer {

Shape WeightMatrix::shape() const
{
    Shape numbers = stored.shape;
    if (blocks != nullptr) {
        numbers.back() = numbers.back() / blocks->bytes * blocks->numbers;
    }
    return numbers;
}

Matrix<float> all_rows(const WeightMatrix& matrix)
{
    const Shape shape = matrix.shape();
    Matrix<float> rows(shape[0], shape[1]);
    for (Index row = 0; row < rows.rows(); ++row) {
        rows.row(row) = row_of(matrix, row);
    }
    return rows;
}

RowVector<float> row_of(const WeightMatrix& matrix, Index row)
{
    if (matrix.blocks == nullptr) {
        return load_matrix<float>(row_block(matrix.stored, row, 1), {});
    }
    RowVector<float> numbers(matrix.shape().back());
    widen_blocks(matrix, row, 0, numbers.size(), numbers.data());
    return numbers;
}

void widen_blocks(const WeightMatrix& matrix, Index row, Index first, Index count, float* to)
{
    const BlockFormat& format = *matrix.blocks;
    const std::byte* from =
        matrix.stored.bytes.data() + row * matrix.stored.shape.back() + first / format.numbers * format.bytes;
    for (Index done = 0; done < count; done += format.numbers, from += format.bytes) {
        format.widen(from, to + done);
    }
}

} // namespace attn::transformer
