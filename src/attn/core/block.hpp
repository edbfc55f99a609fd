// Query rows of one head through all stages: what the portable path stores, and what gradients read.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::core {

/// About how many scores a block holds: a few hundred KiB a stage, whatever the length of the sequence.
inline constexpr Index scores_per_block = 32768;

/// What the query rows of one key/value head read.
struct KeysAndValues {
    Matrix<double> K_transposed; ///< (d_k, P+S)
    Matrix<double> V;            ///< (P+S, d_v)
};
/// Rounded to Scalar, the cache in front.
template <typename Scalar>
[[nodiscard]] KeysAndValues load_keys_and_values(const AttentionInputs& in, Index b, Index g);

/// What general and additive scores of a query head read of the keys: W_a·k + b_Wa or U_a·k + b_Ua (P+S, d_a); of other
/// scores, nothing.
template <typename Scalar>
[[nodiscard]] Matrix<Scalar> aligned_keys(const AttentionInputs& in, Score score, const Matrix<double>& K_transposed, Index h,
                                          Rounding rounding);

/// Rows [first, first + count) of query head h in batch entry b.
struct QueryRows {
    Index b, h, first, count;
};

/// Their stages that are wanted and exist, (count, columns) each; of single numbers (count, 1).
template <typename Scalar>
struct BlockStages : PerStage<Matrix<Scalar>> {
    Matrix<Scalar> factors;  ///< of the values: the weights, dropped and rounded as they go into the product
    bool overflowed = false; ///< as AttentionNotes has it
};
template <typename Scalar>
[[nodiscard]] BlockStages<Scalar> compute_block(const AttentionInputs& inputs, const AttentionOptions& options,
                                                const QueryRows& rows, const KeysAndValues& kv, const Matrix<Scalar>& aligned,
                                                const PerStage<bool>& wanted, Rounding rounding);

/// 1 for the weights of these rows that stay, 0 for those that dropout takes, (count, P+S).
[[nodiscard]] Matrix<double> load_kept(const AttentionInputs& inputs, const QueryRows& rows);
/// The sink of head h; -inf without one.
template <typename Scalar>
[[nodiscard]] Scalar sink_of(const AttentionInputs& inputs, Index h);

/// Writes the rows, each number rounded once, where the stage is kept.
template <typename Scalar>
void store_rows(const Matrix<Scalar>& values, const QueryRows& rows, const StageSpan& to);

} // namespace attn::core
