// Where a word stands, which attention does not know by itself: three ways; positions count from 0 on both sides.
//
//   sinusoidal  x[2i]   += sin(p / 10000^(2i/D))      added to the embedding of position p
//               x[2i+1] += cos(p / 10000^(2i/D))
//               (Vaswani et al. 2017, "Attention Is All You Need", section 3.5)
//   RoPE        (a, b) → (a·cos θ - b·sin θ, a·sin θ + b·cos θ), θ = p / base^(2i/r), for pair i of the first r numbers of each
//               query and key; pair i is (x[i], x[i + r/2]) by halves, as Llama has it, or (x[2i], x[2i+1]) interleaved
//               (Su et al. 2021, "RoFormer", section 3.2)
//   ALiBi       score of query p and key j, after the scaling, minus slope·|p - j|; under a causal mask that is the paper's
//               slope·(j - p). Slopes of n = 2^k heads: 2^(-8h/n), h = 1 … n; of H heads in between, those of the next lower
//               power of two n, then every other one of 2n's
//               (Press et al. 2022, "Train Short, Test Long", section 3, and the program that goes with it)
//
// Everything is computed in double with math/elementary.hpp and rounded once, so that it is the same on every machine.
#pragma once

#include "attn/tensor/tensor.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace attn::core {

/// The pairs that RoPE turns: by halves or interleaved.
enum class RopeStyle { half, interleaved };
inline constexpr std::array<std::string_view, 2> rope_style_names{"half", "interleaved"};

struct Rope {
    double base = 10000;           ///< > 0
    std::optional<Index> dim = {}; ///< r: even, up to d_k; d_k when absent
    RopeStyle style = RopeStyle::half;

    bool operator==(const Rope&) const = default;
};

/// Positions up to here have their sines and cosines to the last place.
inline constexpr Index most_positions = 100000;

/// X (T, D) with the sinusoids of positions 0 … T-1 added: at most most_positions rows.
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> add_sinusoids(Tensor<Scalar> X);

/// X (heads, T, d) turned by positions 0 … T-1: at most most_positions rows, r even and up to d.
template <typename Scalar>
[[nodiscard]] Tensor<Scalar> apply_rope(Tensor<Scalar> X, const Rope& rope);

/// (H)
[[nodiscard]] std::vector<double> alibi_slopes(Index H);

} // namespace attn::core
