// The stages of attention, one function each, to be read with the formulas of attention.hpp.
//
// Everything takes and returns row-major matrices of Scalar (float or double). Products are summed in index order, in double
// and rounded once to Scalar or, with Rounding::step, in Scalar; no other order, no fused operation, nothing that depends on
// the width of a vector register. The right-hand factor comes as double, because every row of the left one uses it again.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/tensor/tensor.hpp"

#include <limits>

namespace attn::core {

/// What a hidden score is.
template <typename Scalar>
inline constexpr Scalar minus_infinity = -std::numeric_limits<Scalar>::infinity();

/// A (m, k) · B (k, n) → (m, n). Row i needs row i of A alone, so any block of rows gives the same numbers.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> product(const MatrixView<Scalar>& A, const MatrixView<double>& B,
                                     Rounding rounding = Rounding::stage);

/// X (T, D) · W (D, d), plus b (d) to every row unless b is empty → (T, d): queries, keys, values, the output projection.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> project(const MatrixView<Scalar>& X, const Matrix<double>& W, const RowVector<double>& b,
                                     Rounding rounding = Rounding::stage);

/// Of each query (T, d_k) and key, given as Kᵀ (d_k, S) → (T, S); with general scores, of what W_a has made of the keys.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> scores(Score score, const MatrixView<Scalar>& Q, const MatrixView<double>& K_transposed,
                                    Rounding rounding = Rounding::stage);

/// |x|, one of the lengths that such a function reads.
template <typename Scalar>
[[nodiscard]] double length(const RowVector<double>& vector, Rounding rounding = Rounding::stage);

/// v_a·tanh(a + u) + b_va of each a = W_a·q + b_Wa (T, d_a) and u = U_a·k + b_Ua (S, d_a) → (T, S)
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> additive_scores(const MatrixView<Scalar>& A, const MatrixView<Scalar>& U,
                                             const ScoreParameters& parameters, Rounding rounding = Rounding::stage);

/// scores · factor, 1/√d_k without one; that is scores / √d_k step by step.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> scale(const MatrixView<Scalar>& scores, std::optional<double> factor, Index d_k,
                                   Rounding rounding = Rounding::stage);

/// cap · tanh(scaled / cap)
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> softcap(const MatrixView<Scalar>& scaled, double cap, Rounding rounding = Rounding::stage);

/// capped, with -inf for the keys that a row's query does not see.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> mask(const MatrixView<Scalar>& capped, const std::vector<KeyRange>& visible);

/// capped (T, S) + bias (T, ≤ S); -inf where the bias is -inf, whatever the score holds, and where there is no bias.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> add_bias(const MatrixView<Scalar>& capped, const Matrix<double>& bias);

/// Every value rounded to `type`, a floating-point one.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> rounded(const MatrixView<Scalar>& values, ElementType type);

/// Every finite value rounded to as many digits as float16 (11 bits), bfloat16 (8) or float32 (24) has, whatever its size; a
/// value so large that Scalar ends there stays.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> with_digits_of(const MatrixView<Scalar>& values, ElementType type);

/// How a row becomes weights, beside its scores.
template <typename Scalar>
struct SoftmaxOptions {
    Scalar empty = 0;                           ///< what a row of -inf alone gives, where the sink is -inf, too
    Scalar sink = minus_infinity<Scalar>;       ///< one more score, whose weight is dropped
    std::optional<ElementType> power_type = {}; ///< rounds what is divided by the sum, and not the sum
    Rounding rounding = Rounding::stage;
};

/// What the scores of a row become before they are divided.
struct Exponentials {
    double maximum;           ///< of the scores and the sink; NaN if a score is
    RowVector<double> powers; ///< exp(s - maximum); where the maximum is +inf, 1 of the scores that are, otherwise 0. 0 of a
                              ///< row of -inf alone, all NaN if a score is
    double sum;               ///< of them, and of that of the sink; step by step it is in Scalar
};
/// Of one row (1, S).
template <typename Scalar>
[[nodiscard]] Exponentials exponentials(const MatrixView<Scalar>& masked, const SoftmaxOptions<Scalar>& options = {});

/// exp(s - max) / Σ exp(s - max) over each row; exactly 0 where s is -inf.
/// Scores of +inf, which overflowed, share the row among themselves. NaN in a row makes all of it NaN but the zeros where s is
/// -inf. Step by step the sum is inverted once and its inverse multiplied, as PyTorch does.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> softmax(const MatrixView<Scalar>& masked, const SoftmaxOptions<Scalar>& options = {});

/// ln(Σ exp(s) + exp(sink)) of each row; -inf where all of them are.
template <typename Scalar>
[[nodiscard]] RowVector<Scalar> log_sum_exp(const MatrixView<Scalar>& masked, Scalar sink = minus_infinity<Scalar>);

/// weights · kept / (1 - p), `kept` being 0 or 1: the factor kept/(1 - p) first, as PyTorch's dropout has it.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> drop(const MatrixView<Scalar>& weights, const Matrix<double>& kept, double p,
                                  Rounding rounding = Rounding::stage);

/// weights (T, S) · V (S, d_v) → (T, d_v); a weight of exactly 0 contributes nothing, whatever its value holds.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> weighted_sum(const MatrixView<Scalar>& weights, const MatrixView<double>& V,
                                          Rounding rounding = Rounding::stage);

/// -Σ w·ln w of each row, in nats; 0·ln 0 = 0.
template <typename Scalar>
[[nodiscard]] RowVector<Scalar> entropy(const MatrixView<Scalar>& weights);

/// head_context (H, T, d_v) → (T, H·d_v), heads side by side.
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> concatenate(const Tensor<Scalar>& head_context);

} // namespace attn::core
