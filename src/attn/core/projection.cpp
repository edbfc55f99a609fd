#include "attn/core/projection.hpp"

#include "attn/core/parallel.hpp"
#include "attn/core/stages.hpp"

#include <algorithm>

namespace attn::core {
namespace {

constexpr Index rows_per_block = 64;

} // namespace

template <typename Scalar>
Tensor<Scalar> project_heads(const MatrixView<Scalar>& X, const Matrix<double>& W, const RowVector<double>& b, Index heads,
                             const Work& work)
{
    const Index T = X.rows();
    const Index d = W.cols() / heads;
    Tensor<Scalar> projected({heads, T, d});
    Work part = work;
    if (static_cast<double>(X.size()) * static_cast<double>(W.cols()) < worth_a_thread) {
        part.threads = 1;
    }
    for_each_block((T + rows_per_block - 1) / rows_per_block, part, [&](Index block) {
        const Index first = block * rows_per_block;
        const Index count = std::min(rows_per_block, T - first);
        const Matrix<Scalar> Y = project<Scalar>(X.middleRows(first, count), W, b, work.rounding);
        for (Index h = 0; h < heads; ++h) {
            projected.matrix(h).middleRows(first, count) = Y.middleCols(h * d, d);
        }
    });
    return projected;
}

template Tensor<float> project_heads(const MatrixView<float>&, const Matrix<double>&, const RowVector<double>&, Index,
                                     const Work&);
template Tensor<double> project_heads(const MatrixView<double>&, const Matrix<double>&, const RowVector<double>&, Index,
                                      const Work&);

} // namespace attn::core
