// What T5 and its kin add to the scores by distance: see RelativeBiasPart.
#pragma once

#include "attn/tensor/tensor.hpp"
#include "attn/transformer/architecture.hpp"

namespace attn::transformer {

/// The bucket of a key that lies `distance` after (> 0) or before (< 0) its query. Half of the buckets are for each
/// direction; of these half are a distance each, and the others grow by a constant factor up to most_distance.
[[nodiscard]] Index bucket_of(Index distance, const RelativeBiasPart& part);

/// table (buckets, H) → (H, T, T)
[[nodiscard]] Tensor<float> relative_bias(const RelativeBiasPart& part, const Matrix<float>& table, Index T);

} // namespace attn::transformer
