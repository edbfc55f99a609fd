// The kernels of portable_kernels.hpp, for the `lanes` and `vectors` of the file that includes this: that many vectors of a row
// fit into the registers beside those of three other rows.
#pragma once

#include "attn/core/portable/portable_kernels.hpp"
#include "attn/math/elementary.hpp"

#include <cstring>

namespace attn::core {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

using Vector = double __attribute__((vector_size(8 * lanes)));

// From and to memory that is aligned for a double. (A type with this alignment would be one for GCC alone.)
[[gnu::always_inline]] inline Vector load(const double* from)
{
    Vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
}
[[gnu::always_inline]] inline void store(double* to, Vector x)
{
    std::memcpy(to, &x, sizeof x);
}

template <Index rows>
[[gnu::always_inline]] inline void add_rows(const double* A, Index row_step, Index term_step, Index count, const double* panel,
                                            double* C, Index C_step)
{
    Vector sum[rows][vectors];
#pragma GCC unroll 16
    for (Index i = 0; i < rows; ++i) {
#pragma GCC unroll 16
        for (Index v = 0; v < vectors; ++v) {
            sum[i][v] = load(C + i * C_step + v * lanes);
        }
    }
    for (Index k = 0; k < count; ++k) {
        Vector b[vectors];
#pragma GCC unroll 16
        for (Index v = 0; v < vectors; ++v) {
            b[v] = load(panel + k * vectors * lanes + v * lanes);
        }
#pragma GCC unroll 16
        for (Index i = 0; i < rows; ++i) {
            const double a = A[i * row_step + k * term_step];
#pragma GCC unroll 16
            for (Index v = 0; v < vectors; ++v) {
                sum[i][v] += b[v] * a;
            }
        }
    }
#pragma GCC unroll 16
    for (Index i = 0; i < rows; ++i) {
#pragma GCC unroll 16
        for (Index v = 0; v < vectors; ++v) {
            store(C + i * C_step + v * lanes, sum[i][v]);
        }
    }
}

void add(const double* A, Index row_step, Index term_step, Index rows, Index count, const double* panel, double* C,
         Index C_step)
{
    Index i = 0;
    for (; i + 4 <= rows; i += 4) {
        add_rows<4>(A + i * row_step, row_step, term_step, count, panel, C + i * C_step, C_step);
    }
    for (; i < rows; ++i) {
        add_rows<1>(A + i * row_step, row_step, term_step, count, panel, C + i * C_step, C_step);
    }
}

void exp(double* powers, Index count)
{
    for (Index i = 0; i < count; ++i) {
        powers[i] = math::exp(powers[i]);
    }
}

static_assert(vectors * lanes <= most_panel_columns);

/// The table of the file that includes this.
constexpr PortableKernels portable_kernels{.columns = vectors * lanes, .add = add, .exp = exp};

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::core
