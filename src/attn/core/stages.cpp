#include "attn/core/stages.hpp"

#include "attn/core/portable/products.hpp"
#include "attn/math/elementary.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attn::core {
namespace {

/// Whether a step leaves less than a double; otherwise both ways of rounding are the same.
template <typename Scalar>
bool by_step(Rounding rounding)
{
    return rounding == Rounding::step && !std::is_same_v<Scalar, double>;
}

/// Calls `compute` with a number of the type that a step of a stage leaves.
template <typename Scalar, typename Compute>
auto in_type_of_steps(Rounding rounding, const Compute& compute)
{
    return by_step<Scalar>(rounding) ? compute(Scalar{}) : compute(double{});
}

/// A (m, k) · B (k, n) → (m, n); each element is the sum of its terms in index order, rounded to Step after every operation.
template <typename Scalar, typename Step>
Matrix<Scalar> sum_of_terms(const MatrixView<Scalar>& A, const Matrix<Step>& B)
{
    Matrix<Scalar> C(A.rows(), B.cols());
    RowVector<Step> sum(B.cols());
    const Index inner = A.cols();
    for (Index i = 0; i < A.rows(); ++i) {
        const auto a = [&](Index k) { return static_cast<Step>(A(i, k)); };
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

/// The same without the terms whose factor in A is 0, so that 0·∞ is not NaN.
template <typename Scalar, typename Step>
Matrix<Scalar> sum_of_seen_terms(const MatrixView<Scalar>& A, const MatrixView<Step>& B)
{
    Matrix<Scalar> C(A.rows(), B.cols());
    RowVector<Step> sum(B.cols());
    for (Index i = 0; i < A.rows(); ++i) {
        sum.setZero();
        for (Index k = 0; k < A.cols(); ++k) {
            if (A(i, k) != 0) {
                sum += static_cast<Step>(A(i, k)) * B.row(k);
            }
        }
        C.row(i) = sum.template cast<Scalar>();
    }
    return C;
}

/// The length of each row, rounded to Step after every operation.
template <typename Step>
RowVector<Step> lengths_of_rows(const Matrix<Step>& vectors)
{
    RowVector<Step> lengths(vectors.rows());
    for (Index i = 0; i < vectors.rows(); ++i) {
        Step sum = 0;
        for (Index k = 0; k < vectors.cols(); ++k) {
            sum += vectors(i, k) * vectors(i, k);
        }
        lengths(i) = std::sqrt(sum);
    }
    return lengths;
}

/// Each row by a power of two of its own, where squares of its numbers may leave the range of double. A cosine does not change.
void keep_squares_in_range(Matrix<double>& vectors)
{
    constexpr int largest = 400;
    for (Index i = 0; i < vectors.rows(); ++i) {
        const double most = vectors.cols() == 0 ? 0 : vectors.row(i).cwiseAbs().maxCoeff();
        if (const int exponent = most > 0 && std::isfinite(most) ? std::ilogb(most) : 0; std::abs(exponent) > largest) {
            vectors.row(i) = vectors.row(i).unaryExpr([&](double number) { return std::ldexp(number, -exponent); });
        }
    }
}
void keep_squares_in_range(Matrix<float>& /*vectors*/) {} // these round as float32 does

/// What becomes of a product q·k beside |q| and |k|, rounded to Step after every operation.
template <typename Step>
Step of_product(Score score, Step product, Step q, Step k)
{
    switch (score) {
    case Score::scaled_dot:
    case Score::dot:
    case Score::general:         // of the query and what W_a makes of the key
    case Score::additive: break; // of v_a and the hidden layer
    case Score::cosine: return q * k == 0 ? Step{0} : product / (q * k);
    }
    return product;
}

/// Of the scores of row i and the sink; NaN if a score is, which maxCoeff() of Eigen may overlook.
template <typename Scalar>
Scalar largest_of_row(const MatrixView<Scalar>& masked, Index i, Scalar sink)
{
    const Scalar score = masked.cols() == 0 ? minus_infinity<Scalar> : masked.row(i).template maxCoeff<Eigen::PropagateNaN>();
    return sink > score ? sink : score;
}

} // namespace

template <typename Scalar>
Matrix<Scalar> product(const MatrixView<Scalar>& A, const MatrixView<double>& B, Rounding rounding)
{
    if (A.cols() != B.rows()) {
        throw Error(ErrorKind::internal, "product",
                    fmt::format("{} by {}", to_string({A.rows(), A.cols()}), to_string({B.rows(), B.cols()})),
                    "inner dimensions that are equal");
    }
    if (by_step<Scalar>(rounding)) {
        return sum_of_terms<Scalar, Scalar>(A, B.template cast<Scalar>());
    }
    const Matrix<double> left = A.template cast<double>();
    Matrix<double> C = Matrix<double>::Zero(A.rows(), B.cols());
    add_product(columns_of(left, 0, left.cols()), B, C);
    return C.template cast<Scalar>();
}

template <typename Scalar>
Matrix<Scalar> project(const MatrixView<Scalar>& X, const Matrix<double>& W, const RowVector<double>& b, Rounding rounding)
{
    Matrix<Scalar> Y = product<Scalar>(X, W, rounding);
    if (b.size() != 0) {
        Y = (Y.template cast<double>().rowwise() + b).template cast<Scalar>();
    }
    return Y;
}

template <typename Scalar>
Matrix<Scalar> scores(Score score, const MatrixView<Scalar>& Q, const MatrixView<double>& K_transposed, Rounding rounding)
{
    if (function_of(score).of_product.empty()) {
        return product<Scalar>(Q, K_transposed, rounding);
    }
    return in_type_of_steps<Scalar>(rounding, [&]<typename Step>(Step) -> Matrix<Scalar> {
        Matrix<Step> queries = Q.template cast<Step>();
        Matrix<Step> keys = K_transposed.transpose().template cast<Step>();
        if (score == Score::cosine) {
            keep_squares_in_range(queries);
            keep_squares_in_range(keys);
        }
        Matrix<Step> made = sum_of_terms<Step, Step>(queries, keys.transpose());
        const RowVector<Step> of_queries = lengths_of_rows<Step>(queries);
        const RowVector<Step> of_keys = lengths_of_rows<Step>(keys);
        for (Index i = 0; i < made.rows(); ++i) {
            for (Index j = 0; j < made.cols(); ++j) {
                made(i, j) = of_product<Step>(score, made(i, j), of_queries(i), of_keys(j));
            }
        }
        return made.template cast<Scalar>();
    });
}

template <typename Scalar>
double length(const RowVector<double>& vector, Rounding rounding)
{
    return in_type_of_steps<Scalar>(
        rounding, [&]<typename Step>(Step) -> double { return lengths_of_rows<Step>(vector.template cast<Step>())(0); });
}

template <typename Scalar>
Matrix<Scalar> additive_scores(const MatrixView<Scalar>& A, const MatrixView<Scalar>& U, const ScoreParameters& parameters,
                               Rounding rounding)
{
    return in_type_of_steps<Scalar>(rounding, [&]<typename Step>(Step) -> Matrix<Scalar> {
        const RowVector<Step> v = parameters.v_a.template cast<Step>();
        Matrix<Scalar> scores(A.rows(), U.rows());
        for (Index i = 0; i < A.rows(); ++i) {
            for (Index j = 0; j < U.rows(); ++j) {
                Step sum = 0;
                for (Index d = 0; d < v.size(); ++d) {
                    const Step inner = static_cast<Step>(A(i, d)) + static_cast<Step>(U(j, d));
                    sum += v(d) * static_cast<Step>(math::tanh(static_cast<double>(inner)));
                }
                scores(i, j) = static_cast<Scalar>(sum + static_cast<Step>(parameters.b_va));
            }
        }
        return scores;
    });
}

template <typename Scalar>
Matrix<Scalar> scale(const MatrixView<Scalar>& scores, std::optional<double> factor, Index d_k, Rounding rounding)
{
    const double root = std::sqrt(static_cast<double>(d_k));
    if (by_step<Scalar>(rounding) && !factor) {
        return scores / static_cast<Scalar>(root);
    }
    return (scores.template cast<double>() * factor.value_or(1 / root)).template cast<Scalar>();
}

template <typename Scalar>
Matrix<Scalar> softcap(const MatrixView<Scalar>& scaled, double cap, Rounding rounding)
{
    return in_type_of_steps<Scalar>(rounding, [&]<typename Step>(Step) -> Matrix<Scalar> {
        return scaled.unaryExpr([cap](Scalar s) {
            const auto share = static_cast<Step>(static_cast<double>(s) / cap);
            const auto tanh = static_cast<Step>(math::tanh(static_cast<double>(share)));
            return static_cast<Scalar>(cap * static_cast<double>(tanh));
        });
    });
}

template <typename Scalar>
Matrix<Scalar> mask(const MatrixView<Scalar>& capped, const std::vector<KeyRange>& visible)
{
    Matrix<Scalar> masked = Matrix<Scalar>::Constant(capped.rows(), capped.cols(), minus_infinity<Scalar>);
    for (Index i = 0; i < capped.rows(); ++i) {
        const KeyRange keys = visible[static_cast<std::size_t>(i)];
        const Index count = keys.end - keys.begin;
        masked.row(i).segment(keys.begin, count) = capped.row(i).segment(keys.begin, count);
    }
    return masked;
}

template <typename Scalar>
Matrix<Scalar> add_bias(const MatrixView<Scalar>& capped, const Matrix<double>& bias)
{
    Matrix<Scalar> masked = Matrix<Scalar>::Constant(capped.rows(), capped.cols(), minus_infinity<Scalar>);
    for (Index i = 0; i < capped.rows(); ++i) {
        for (Index j = 0; j < bias.cols(); ++j) {
            if (bias(i, j) != minus_infinity<double>) {
                masked(i, j) = static_cast<Scalar>(static_cast<double>(capped(i, j)) + bias(i, j));
            }
        }
    }
    return masked;
}

template <typename Scalar>
Matrix<Scalar> rounded(const MatrixView<Scalar>& values, ElementType type)
{
    return values.unaryExpr([type](Scalar value) {
        switch (type) {
        case ElementType::float16: return static_cast<Scalar>(from_float16(to_float16(static_cast<double>(value))));
        case ElementType::bfloat16: return static_cast<Scalar>(from_bfloat16(to_bfloat16(static_cast<double>(value))));
        case ElementType::float32: return static_cast<Scalar>(static_cast<float>(value));
        default: return value;
        }
    });
}

template <typename Scalar>
Matrix<Scalar> with_digits_of(const MatrixView<Scalar>& values, ElementType type)
{
    const int kept = type == ElementType::float16 ? 10 : type == ElementType::bfloat16 ? 7 : 23;
    const int lost = 52 - kept; // of a double's bits behind the first
    return values.unaryExpr([lost](Scalar value) {
        if (!std::isfinite(value)) {
            return value;
        }
        auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
        const std::uint64_t even = (bits >> lost) & 1;
        bits += (std::uint64_t{1} << (lost - 1)) - 1 + even;
        bits &= ~((std::uint64_t{1} << lost) - 1);
        const auto rounded = static_cast<Scalar>(std::bit_cast<double>(bits));
        return std::isfinite(rounded) ? rounded : value;
    });
}

template <typename Scalar>
Exponentials exponentials(const MatrixView<Scalar>& masked, const SoftmaxOptions<Scalar>& options)
{
    const auto maximum = largest_of_row<Scalar>(masked, 0, options.sink);
    return in_type_of_steps<Scalar>(options.rounding, [&]<typename Step>(Step) -> Exponentials {
        if (maximum == minus_infinity<Scalar>) { // no key to attend to
            return {static_cast<double>(maximum), RowVector<double>::Zero(masked.cols()), 0};
        }
        RowVector<double> powers(masked.cols());
        if (maximum == std::numeric_limits<Scalar>::infinity()) {
            // A score that overflowed: ∞ - ∞ would be NaN, but it outweighs every finite one.
            powers = (masked.row(0).array() == maximum).template cast<double>();
        } else {
            powers = (masked.row(0).template cast<Step>().array() - static_cast<Step>(maximum)).template cast<double>();
            best_portable_kernels().exp(powers.data(), powers.size());
        }
        Step sum = 0;
        for (const double power : powers) {
            sum += static_cast<Step>(power);
        }
        if (options.sink != minus_infinity<Scalar>) {
            sum += static_cast<Step>(math::exp(static_cast<double>(options.sink) - static_cast<double>(maximum)));
        }
        return {static_cast<double>(maximum), std::move(powers), static_cast<double>(sum)};
    });
}

template <typename Scalar>
Matrix<Scalar> softmax(const MatrixView<Scalar>& masked, const SoftmaxOptions<Scalar>& options)
{
    Matrix<Scalar> weights(masked.rows(), masked.cols());
    for (Index i = 0; i < masked.rows() && masked.cols() > 0; ++i) {
        auto [maximum, powers, sum] = exponentials<Scalar>(masked.row(i), options);
        if (maximum == minus_infinity<double>) {
            weights.row(i).setConstant(options.empty);
            continue;
        }
        if (std::isnan(maximum)) { // of its keys alone: a masked one has no part in them
            weights.row(i) = (masked.row(i).array() == minus_infinity<Scalar>)
                                 .select(RowVector<Scalar>::Zero(masked.cols()), static_cast<Scalar>(maximum));
            continue;
        }
        if (options.power_type) {
            powers = rounded<double>(powers, *options.power_type);
        }
        if (by_step<Scalar>(options.rounding)) {
            weights.row(i) = powers.template cast<Scalar>() * (1 / static_cast<Scalar>(sum));
        } else {
            weights.row(i) = (powers / sum).template cast<Scalar>();
        }
    }
    return weights;
}

template <typename Scalar>
RowVector<Scalar> log_sum_exp(const MatrixView<Scalar>& masked, Scalar sink)
{
    RowVector<Scalar> logarithms(masked.rows());
    RowVector<double> powers(masked.cols());
    for (Index i = 0; i < masked.rows(); ++i) {
        const auto maximum = static_cast<double>(largest_of_row<Scalar>(masked, i, sink));
        if (!std::isfinite(maximum)) {
            logarithms(i) = static_cast<Scalar>(maximum);
            continue;
        }
        powers = masked.row(i).template cast<double>().array() - maximum;
        best_portable_kernels().exp(powers.data(), powers.size());
        double sum = math::exp(static_cast<double>(sink) - maximum);
        for (const double power : powers) {
            sum += power;
        }
        logarithms(i) = static_cast<Scalar>(maximum + math::log(sum));
    }
    return logarithms;
}

template <typename Scalar>
Matrix<Scalar> drop(const MatrixView<Scalar>& weights, const Matrix<double>& kept, double p, Rounding rounding)
{
    return in_type_of_steps<Scalar>(rounding, [&]<typename Step>(Step) -> Matrix<Scalar> {
        const Step factor = Step{1} / static_cast<Step>(1 - p);
        return (weights.template cast<Step>().array() * (kept.template cast<Step>().array() * factor)).template cast<Scalar>();
    });
}

template <typename Scalar>
Matrix<Scalar> weighted_sum(const MatrixView<Scalar>& weights, const MatrixView<double>& V, Rounding rounding)
{
    Matrix<Scalar> sums = product<Scalar>(weights, V, rounding);
    if (sums.allFinite() || V.allFinite()) { // a value that is not finite leaves no sum of its column finite
        return sums;
    }
    // A value that overflowed: a key without weight contributes nothing.
    if (by_step<Scalar>(rounding)) {
        return sum_of_seen_terms<Scalar, Scalar>(weights, V.template cast<Scalar>());
    }
    return sum_of_seen_terms<Scalar, double>(weights, V);
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
    template Matrix<Scalar> product(const MatrixView<Scalar>&, const MatrixView<double>&, Rounding);                           \
    template Matrix<Scalar> project(const MatrixView<Scalar>&, const Matrix<double>&, const RowVector<double>&, Rounding);     \
    template Matrix<Scalar> scores(Score, const MatrixView<Scalar>&, const MatrixView<double>&, Rounding);                     \
    template double length<Scalar>(const RowVector<double>&, Rounding);                                                        \
    template Matrix<Scalar> additive_scores(const MatrixView<Scalar>&, const MatrixView<Scalar>&, const ScoreParameters&,      \
                                            Rounding);                                                                         \
    template Matrix<Scalar> scale(const MatrixView<Scalar>&, std::optional<double>, Index, Rounding);                          \
    template Matrix<Scalar> softcap(const MatrixView<Scalar>&, double, Rounding);                                              \
    template Matrix<Scalar> mask(const MatrixView<Scalar>&, const std::vector<KeyRange>&);                                     \
    template Matrix<Scalar> add_bias(const MatrixView<Scalar>&, const Matrix<double>&);                                        \
    template Matrix<Scalar> rounded(const MatrixView<Scalar>&, ElementType);                                                   \
    template Matrix<Scalar> with_digits_of(const MatrixView<Scalar>&, ElementType);                                            \
    template Exponentials exponentials(const MatrixView<Scalar>&, const SoftmaxOptions<Scalar>&);                              \
    template Matrix<Scalar> softmax(const MatrixView<Scalar>&, const SoftmaxOptions<Scalar>&);                                 \
    template RowVector<Scalar> log_sum_exp(const MatrixView<Scalar>&, Scalar);                                                 \
    template Matrix<Scalar> drop(const MatrixView<Scalar>&, const Matrix<double>&, double, Rounding);                          \
    template Matrix<Scalar> weighted_sum(const MatrixView<Scalar>&, const MatrixView<double>&, Rounding);                      \
    template RowVector<Scalar> entropy(const MatrixView<Scalar>&);                                                             \
    template Tensor<Scalar> concatenate(const Tensor<Scalar>&);

ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

} // namespace attn::core
