#include "attn/core/portable/products.hpp"

#include "attn/core/isa.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace attn::core {
namespace {

/// Terms of a panel: as many as stay in the first-level cache.
constexpr Index terms_at_once = 128;

/// Some rows of B and as many of their columns as a panel has; behind the last one zeros.
void pack(const MatrixView<double>& B, Index first_row, Index rows, Index first_column, Index width, double* panel)
{
    const Index columns = std::min(width, B.cols() - first_column);
    Eigen::Map<Matrix<double>> packed(panel, rows, width);
    packed.leftCols(columns) = B.block(first_row, first_column, rows, columns);
    packed.rightCols(width - columns).setZero();
}

} // namespace

std::vector<const PortableKernels*> available_portable_kernels()
{
    std::vector<const PortableKernels*> available{&baseline_portable_kernels};
#if defined(__x86_64__)
    if (is_available(Isa::avx2)) {
        available.push_back(&avx2_portable_kernels);
    }
    if (is_available(Isa::avx512)) {
        available.push_back(&avx512_portable_kernels);
    }
#endif
    return available;
}

const PortableKernels& best_portable_kernels()
{
    return best_portable_kernels(std::numeric_limits<Index>::max());
}

const PortableKernels& best_portable_kernels(Index columns)
{
    static const std::vector<const PortableKernels*> available = available_portable_kernels(); // asked once: see isa.cpp
    const auto too_wide = std::ranges::find_if(available, [&](const auto* kernels) { return kernels->columns / 2 > columns; });
    return **(too_wide == available.begin() ? too_wide : too_wide - 1);
}

LeftFactor columns_of(const Matrix<double>& A, Index first, Index count)
{
    return {A.data() + first, A.rows(), count, A.cols(), 1};
}

LeftFactor transposed(const Matrix<double>& A, Index first, Index count)
{
    return {A.data() + first, count, A.rows(), 1, A.cols()};
}

void add_product(const LeftFactor& A, const MatrixView<double>& B, Eigen::Ref<Matrix<double>> C, const PortableKernels* kernels)
{
    if (A.terms != B.rows() || A.rows != C.rows() || B.cols() != C.cols()) {
        throw Error(ErrorKind::internal, "product",
                    fmt::format("{} by {}", to_string({A.rows, A.terms}), to_string({B.rows(), B.cols()})),
                    "inner dimensions that are equal");
    }
    if (kernels == nullptr) {
        kernels = &best_portable_kernels(C.cols());
    }
    const Index width = kernels->columns;
    std::array<double, terms_at_once * most_panel_columns> panel; // NOLINT(*-member-init): packed, then read
    Matrix<double> edge;                                          // of C: fewer columns than a panel has
    for (Index column = 0; column < C.cols(); column += width) {
        const Index columns = std::min(width, C.cols() - column);
        const bool whole = columns == width;
        if (!whole) {
            edge.setZero(C.rows(), width);
            edge.leftCols(columns) = C.middleCols(column, columns);
        }
        double* to = whole ? C.data() + column : edge.data();
        for (Index first = 0; first < A.terms; first += terms_at_once) {
            const Index terms = std::min(terms_at_once, A.terms - first);
            pack(B, first, terms, column, width, panel.data());
            kernels->add(A.data + first * A.term_step, A.row_step, A.term_step, A.rows, terms, panel.data(), to,
                         whole ? C.outerStride() : width);
        }
        if (!whole) {
            C.middleCols(column, columns) = edge.leftCols(columns);
        }
    }
}

} // namespace attn::core
