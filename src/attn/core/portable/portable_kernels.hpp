// The inner loops of the portable path as plain functions over raw pointers, one table an instruction set.
//
// All tables give the same bytes: the terms of an element are added in index order, in double, without fused operations. A
// vector holds neighbouring elements of a row, so that its width changes nothing but the time. As with the tables of
// core/tiles, nothing but the table may come out of a file that is compiled for one instruction set.
#pragma once

#include "attn/tensor/shape.hpp"

namespace attn::core {

inline constexpr Index most_panel_columns = 32; ///< of any of the tables

struct PortableKernels {
    Index columns; ///< of a panel: a whole number of vectors

    /// A (rows, count) · panel (count, columns) is added to C (rows, columns), which starts with what stands there.
    /// A's element (i, k) is A[i·row_step + k·term_step]; the panel's rows lie one after the other, C's are C_step apart.
    void (*add)(const double* A, Index row_step, Index term_step, Index rows, Index count, const double* panel, double* C,
                Index C_step);
    /// powers[i] = e^powers[i], as math::exp() has it.
    void (*exp)(double* powers, Index count);
};

/// Built for every processor of the architecture: SSE2 on x86-64, NEON on 64-bit Arm.
extern const PortableKernels baseline_portable_kernels;
/// These exist only in programs for x86-64.
extern const PortableKernels avx2_portable_kernels, avx512_portable_kernels;

} // namespace attn::core
