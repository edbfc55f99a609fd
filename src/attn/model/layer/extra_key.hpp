// One more key and value after those of the words, which every query sees: bias_k and bias_v of nn.MultiheadAttention.
#pragma once

#include "attn/tensor/tensor.hpp"

namespace attn::model {

/// Its name among the words of the keys.
inline constexpr const char* extra_key_label = "(bias)";

/// rows (H_kv, S, d) with `row` (H_kv·d) after those of each head → (H_kv, S+1, d).
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> with_row(const Tensor<Scalar>& rows, const Tensor<Scalar>& row);

} // namespace attn::model
