// How a model knows positions: its embedding adds sines and cosines, or a layer turns queries and keys, or adds to the scores
// by distance.
#pragma once

#include "attn/tensor/tensor.hpp"
#include "attn/transformer/architecture.hpp"

#include <vector>

namespace attn::transformer {

// Sinusoidal positions: sin(position · frequency) for each pair's frequency 10000^(-2n/D), and behind all sines the cosines. In
// double, rounded once. (Vaswani et al. 2017, "Attention Is All You Need", section 3.5, where sine and cosine alternate; XLM's
// and Marian's order.)

/// (D)
[[nodiscard]] RowVector<float> sinusoid(Index position, Index D);

// Rotary positions: (a, b) → (a·cos θ - b·sin θ, a·sin θ + b·cos θ) with θ = position · frequency, for the pairs by halves of
// each head's first `dim` numbers. In double, rounded once. (Su et al. 2021, "RoFormer"; scaling of frequencies: see
// RopeScaling, whose llama3 is that of the Llama 3.1 models.)

/// One for each pair, in radians a position.
[[nodiscard]] std::vector<double> frequencies(const RopePart& rope);

/// Cosines and sines of positions in a row.
struct Rotation {
    Matrix<double> cosine, sine; ///< (positions, pairs)
};
/// Of positions first … T-1, at most core::most_positions.
[[nodiscard]] Rotation rotation(const RopePart& rope, Index T, Index first = 0);

/// Turns each head of X (T, heads·d) in place.
void rotate(Matrix<float>& X, Index d, const Rotation& by);

// What T5 and its kin add to the scores by distance: see RelativeBiasPart.

/// The bucket of a key that lies `distance` after (> 0) or before (< 0) its query. Half of the buckets are for each
/// direction, or, of a causal one, all for keys before it, and keys after it are in that of distance 0; half of these are a
/// distance each, and the others grow by a constant factor up to most_distance.
[[nodiscard]] Index bucket_of(Index distance, const RelativeBiasPart& part);

/// table (buckets, H) → (H, T - first, T): the rows from `first` on
[[nodiscard]] Tensor<float> relative_bias(const RelativeBiasPart& part, const Matrix<float>& table, Index T, Index first = 0);

} // namespace attn::transformer
