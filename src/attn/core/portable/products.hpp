// Products of matrices in double, each element summed in index order: the same bytes on every machine.
#pragma once

#include "attn/core/portable/portable_kernels.hpp"
#include "attn/tensor/tensor.hpp"

#include <vector>

namespace attn::core {

/// The left factor of a product, (rows, terms), in memory that it does not own.
struct LeftFactor {
    const double* data;
    Index rows, terms;
    Index row_step, term_step; ///< in elements
};
/// Some columns of A.
[[nodiscard]] LeftFactor columns_of(const Matrix<double>& A, Index first, Index count);
/// Aᵀ of some columns of A, of which nothing is copied either.
[[nodiscard]] LeftFactor transposed(const Matrix<double>& A, Index first, Index count);

/// Those that this processor runs, the fastest last.
[[nodiscard]] std::vector<const PortableKernels*> available_portable_kernels();
[[nodiscard]] const PortableKernels& best_portable_kernels();
/// The same for a product of so many columns: a panel of which they fill less than half takes its time for zeros.
[[nodiscard]] const PortableKernels& best_portable_kernels(Index columns);

/// C (m, n) += A (m, k) · B (k, n): the terms of an element follow on what stands there, in index order; with the best
/// kernels for n columns, where none are named. Throws Error(internal) for sizes that do not go together.
void add_product(const LeftFactor& A, const MatrixView<double>& B, Eigen::Ref<Matrix<double>> C,
                 const PortableKernels* kernels = nullptr);

} // namespace attn::core
