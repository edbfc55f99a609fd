// A tensor in somebody else's bytes: what a mapped file holds, without a copy.
#pragma once

#include "attn/tensor/element.hpp"
#include "attn/tensor/tensor.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace attn {

/// `strides` are in elements; bytes need not be aligned. The bytes outlive the view.
struct TensorView {
    ElementType type = ElementType::float32;
    Shape shape;
    Shape strides;                    ///< row-major unless the file was in Fortran order or dimensions were split or swapped
    bool swapped = false;             ///< the other byte order
    std::span<const std::byte> bytes; ///< of element (0, …, 0) and on

    /// The element at a flat position in row-major order, or at `offset` elements from the front, as double (int64 beyond 2^53
    /// rounds).
    [[nodiscard]] double at(std::span<const Index> index) const;
};

/// Row-major view of bytes.
[[nodiscard]] TensorView row_major_view(ElementType type, Shape shape, std::span<const std::byte> bytes);

/// The same leading dimensions, and of the rows (the last dimension but one) `count` from `first` on.
[[nodiscard]] TensorView row_block(const TensorView& view, Index first, Index count);

/// The matrix that the last two dimensions form at `leading` indices, converted to Scalar (float or double). Fast for rows that
/// are contiguous.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> load_matrix(const TensorView& view, std::span<const Index> leading);
/// The whole tensor, converted, row-major.
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> load(const TensorView& view);

/// Throws Error(data) naming `what` and the first index that is NaN or infinite.
void require_finite(const TensorView& view, std::string_view what);

} // namespace attn
