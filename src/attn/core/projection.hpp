// Projections of all heads at once, on several threads.
#pragma once

#include "attn/core/parallel.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::core {

/// X (T, D) · W (D, heads·d) + b (heads·d, or empty), split into heads → (heads, T, d). Each element is summed as in
/// stages.hpp.
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> project_heads(const MatrixView<Scalar>& X, const Matrix<double>& W, const RowVector<double>& b,
                                           Index heads, const Work& work);

extern template Tensor<float> project_heads(const MatrixView<float>&, const Matrix<double>&, const RowVector<double>&, Index,
                                            const Work&);
extern template Tensor<double> project_heads(const MatrixView<double>&, const Matrix<double>&, const RowVector<double>&, Index,
                                             const Work&);

} // namespace attn::core
