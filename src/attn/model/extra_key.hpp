// One more key and value behind those of the words, which every query sees: bias_k and bias_v of nn.MultiheadAttention.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/tensor/stored.hpp"

namespace attn::model {

/// What stands for it beside the words of the keys.
inline constexpr const char* extra_key_label = "(bias)";

/// rows (H_kv, S, d) with `row` (H_kv·d) behind those of each head → (H_kv, S+1, d).
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> with_row(const Tensor<Scalar>& rows, const Tensor<Scalar>& row);

/// What is added to the scores of queries at `positions` and S + 1 keys, (1 or H, T, S+1) in float64: 0, or the mask's number,
/// where a word is seen, -inf where not, 0 for the last key. `mask`, when there is one, is (H, T, ≤ S) as core has it, of these
/// queries.
[[nodiscard]] StoredTensor bias_with_extra_key(const std::optional<TensorView>& mask, const core::AttentionOptions& options,
                                               const std::vector<Index>& positions, Index S);

} // namespace attn::model
