#include "attn/core/stages.hpp"

#include "attn/math/elementary.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::core {
namespace {

template <typename Scalar>
constexpr Scalar minus_infinity = -std::numeric_limits<Scalar>::infinity();

} // namespace

template <typename Scalar>
Matrix<Scalar> product(const MatrixView<Scalar>& A, const Matrix<double>& B)
{
    if (A.cols() != B.rows()) {
        throw Error(ErrorKind::internal, "product", to_string({A.rows(), A.cols()}) + " by " + to_string({B.rows(), B.cols()}),
                    "inner dimensions that are equal");
    }
    Matrix<Scalar> C(A.rows(), B.cols());
    RowVector<double> sum(B.cols());
    const Index inner = A.cols();
    for (Index i = 0; i < A.rows(); ++i) {
        const auto a = [&](Index k) { return static_cast<double>(A(i, k)); };
        sum.setZero();
        // Four terms a pass save three quarters of the loads and stores of `sum`; the sum of each element is still
        // ((sum + a₀b₀) + a₁b₁) + …, in index order.
        Index k = 0;
        for (; k + 4 <= inner; k += 4) {
            sum = sum + a(k) * B.row(k) + a(k + 1) * B.row(k + 1) + a(k + 2) * B.row(k + 2) + a(k + 3) * B.row(k + 3);
        }
        for (; k < inner; ++k) {
            sum += a(k) * B.row(k);
        }
        C.row(i) = sum.template cast<Scalar>();
    }
    return C;
}

template <typename Scalar>
Matrix<Scalar> project(const MatrixView<Scalar>& X, const Matrix<double>& W, const RowVector<double>& b)
{
    Matrix<Scalar> Y = product<Scalar>(X, W);
    if (b.size() != 0) {
        Y = (Y.template cast<double>().rowwise() + b).template cast<Scalar>();
    }
    return Y;
}

template <typename Scalar>
Matrix<Scalar> scores(const MatrixView<Scalar>& Q, const Matrix<double>& K_transposed)
{
    return product<Scalar>(Q, K_transposed);
}

template <typename Scalar>
Matrix<Scalar> scale(const MatrixView<Scalar>& scores, double factor)
{
    return (scores.template cast<double>() * factor).template cast<Scalar>();
}

template <typename Scalar>
Matrix<Scalar> softcap(const MatrixView<Scalar>& scaled, double cap)
{
    return scaled.unaryExpr([cap](Scalar s) { return static_cast<Scalar>(cap * math::tanh(static_cast<double>(s) / cap)); });
}

KeyRange visible_keys(const AttentionOptions& options, Index position, Index S)
{
    KeyRange range{0, S};
    if (options.causal) {
        range.end = std::min(range.end, position + 1);
    }
    if (options.window && options.window->left >= 0) {
        range.begin = std::max(range.begin, position - options.window->left);
    }
    if (options.window && options.window->right >= 0) {
        range.end = std::min(range.end, position + options.window->right + 1);
    }
    range.begin = std::min(range.begin, S);
    range.end = std::max(range.end, range.begin);
    return range;
}

template <typename Scalar>
Matrix<Scalar> mask(const MatrixView<Scalar>& capped, const AttentionOptions& options, const Index* positions)
{
    Matrix<Scalar> masked = Matrix<Scalar>::Constant(capped.rows(), capped.cols(), minus_infinity<Scalar>);
    for (Index i = 0; i < capped.rows(); ++i) {
        const KeyRange keys = visible_keys(options, positions[i], capped.cols());
        const Index count = keys.end - keys.begin;
        masked.row(i).segment(keys.begin, count) = capped.row(i).segment(keys.begin, count);
    }
    return masked;
}

template <typename Scalar>
Matrix<Scalar> softmax(const MatrixView<Scalar>& masked)
{
    Matrix<Scalar> weights(masked.rows(), masked.cols());
    RowVector<double> powers(masked.cols());
    for (Index i = 0; i < masked.rows(); ++i) {
        // maxCoeff() of Eigen may overlook a NaN, which an overflowed score can become.
        const auto maximum = static_cast<double>(masked.row(i).template maxCoeff<Eigen::PropagateNaN>());
        if (maximum == minus_infinity<double>) {
            weights.row(i).setZero(); // no key to attend to
            continue;
        }
        if (maximum == std::numeric_limits<double>::infinity()) {
            // A score that overflowed: ∞ - ∞ would be NaN, but it outweighs every finite one.
            powers = (masked.row(i).array() == static_cast<Scalar>(maximum)).template cast<double>();
        } else {
            powers = masked.row(i).template cast<double>().array() - maximum;
            math::exp(powers.data(), powers.data(), powers.size());
        }
        double sum = 0;
        for (const double power : powers) {
            sum += power;
        }
        weights.row(i) = (powers / sum).template cast<Scalar>();
    }
    return weights;
}

template <typename Scalar>
Matrix<Scalar> weighted_sum(const MatrixView<Scalar>& weights, const Matrix<double>& V)
{
    if (V.allFinite()) {
        return product<Scalar>(weights, V);
    }
    // A value that overflowed: 0·∞ would be NaN, but a key without weight contributes nothing.
    Matrix<Scalar> context(weights.rows(), V.cols());
    RowVector<double> sum(V.cols());
    for (Index i = 0; i < weights.rows(); ++i) {
        sum.setZero();
        for (Index j = 0; j < weights.cols(); ++j) {
            if (weights(i, j) != 0) {
                sum += static_cast<double>(weights(i, j)) * V.row(j);
            }
        }
        context.row(i) = sum.template cast<Scalar>();
    }
    return context;
}

template <typename Scalar>
RowVector<Scalar> entropy(const MatrixView<Scalar>& weights)
{
    RowVector<Scalar> entropies(weights.rows());
    for (Index i = 0; i < weights.rows(); ++i) {
        double sum = 0;
        for (Index j = 0; j < weights.cols(); ++j) {
            const auto w = static_cast<double>(weights(i, j));
            sum -= w == 0 ? 0 : w * math::log(w);
        }
        entropies(i) = static_cast<Scalar>(sum);
    }
    return entropies;
}

template <typename Scalar>
Tensor<Scalar> concatenate(const Tensor<Scalar>& head_context)
{
    const Index H = head_context.shape[0];
    const Index T = head_context.shape[1];
    const Index d_v = head_context.shape[2];
    Tensor<Scalar> context({T, H * d_v});
    for (Index h = 0; h < H; ++h) {
        context.matrix().middleCols(h * d_v, d_v) = head_context.matrix(h);
    }
    return context;
}

#define ATTN_INSTANTIATE(Scalar)                                                                                               \
    template Matrix<Scalar> product(const MatrixView<Scalar>&, const Matrix<double>&);                                         \
    template Matrix<Scalar> project(const MatrixView<Scalar>&, const Matrix<double>&, const RowVector<double>&);               \
    template Matrix<Scalar> scores(const MatrixView<Scalar>&, const Matrix<double>&);                                          \
    template Matrix<Scalar> scale(const MatrixView<Scalar>&, double);                                                          \
    template Matrix<Scalar> softcap(const MatrixView<Scalar>&, double);                                                        \
    template Matrix<Scalar> mask(const MatrixView<Scalar>&, const AttentionOptions&, const Index*);                            \
    template Matrix<Scalar> softmax(const MatrixView<Scalar>&);                                                                \
    template Matrix<Scalar> weighted_sum(const MatrixView<Scalar>&, const Matrix<double>&);                                    \
    template RowVector<Scalar> entropy(const MatrixView<Scalar>&);                                                             \
    template Tensor<Scalar> concatenate(const Tensor<Scalar>&);

ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)

} // namespace attn::core
