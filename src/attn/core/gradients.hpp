// Gradients of attention: how a loss changes with each input, given how it changes with the results.
//
// Beside the stages of attention.hpp, with W for the weights, dO for the gradient of the context and dlse for that of lse:
//
//   dweights       = dO·Vᵀ                                (T, S)   head_context = weights · V
//                    · kept / (1 - p) with dropout                 dropped_weights = weights · kept / (1 - p)
//   delta          = Σ_j W_ij · dweights_ij - dlse_i      (T)      the rows of W sum to 1, and dlse_i/dmasked_ij = W_ij
//   dmasked_scores = W ∘ (dweights - delta)               (T, S)   weights = softmax(masked_scores)
//   dscores        = dmasked_scores                       (T, S)   capped_scores = c · tanh(scaled_scores / c)
//                    ∘ (1 - (capped_scores / c)²) · scale          scaled_scores = scores · scale
//   dq             = dscores · K                          (T, d_k) scores = Q·Kᵀ
//   dk             = Σ dscoresᵀ · Q                       (P+S, d_k) over the query heads of a key/value head
//   dv             = Σ dropped_weightsᵀ · dO              (P+S, d_v) likewise; without dropout weightsᵀ
//   dmask          = dmasked_scores                       summed over the dimensions that the mask is repeated along
//   dsinks         = -Σ exp(sink - lse) · delta           (H)      a sink is one more score, whose weight is dropped
//   dscale         = Σ dscaled_scores ∘ scores            one number
//
// delta is Σ_j dO_ij · O_ij - dlse_i, too, which FlashAttention computes; the sum over keys holds also for what was rounded, so
// that rows of dmasked_scores sum to 0 as exactly as they can. A key that a query does not see has no part in anything: its
// entries are exactly 0, and so are those of a query without keys, whatever stands in for its context.
//
// Each number is rounded once to the type that the forward computes in, sums over rows are kept in double to their end, and
// the terms of every sum follow in one order: the same bytes on every machine and for any number of threads. Query rows are
// worked off in blocks, with their weights computed once more, so memory stays linear in T and S for what is not kept.
// AttentionOptions::stage_type rounds each dweights, dmasked_scores and dscores, too, and each head's dk and dv before a
// group's are added up: as those of keys and values that are repeated for every head. Its delta is FlashAttention's, of the
// rounded context. With float32 as stage_type, for inputs that are not float64, every sum is a float32 after each term: the
// plain computation in that type.
//
// (Dao et al. 2022, "FlashAttention", algorithm 4 and appendix B.2, for the derivation; Dao 2023, "FlashAttention-2".)
#pragma once

#include "attn/core/attention.hpp"

namespace attn::core {

/// In the order of the steps. The first four are stages of the way: rows of queries, as in the forward.
enum class Gradient { dweights, delta, dmasked_scores, dscores, dq, dk, dv, dpast_key, dpast_value };
inline constexpr std::size_t gradient_count = static_cast<std::size_t>(Gradient::dpast_value) + 1;

inline constexpr auto every_gradient = [] {
    std::array<Gradient, gradient_count> gradients{};
    for (std::size_t i = 0; i < gradient_count; ++i) {
        gradients[i] = static_cast<Gradient>(i);
    }
    return gradients;
}();

template <typename T>
using PerGradient = PerEach<Gradient, gradient_count, T>;

/// What the loss changes with: what is not given, it does not read.
struct LossGradients {
    std::optional<TensorView> context = {}; ///< dO (B, H, T, d_v)
    std::optional<TensorView> lse = {};     ///< (B, H, T)
};

/// Where gradients go, each (B, H, T, columns), those of keys and values (B, H_kv, rows, columns).
struct GradientOutputs : PerGradient<StageSpan> {
    bool mask = false; ///< whether GradientSums::mask is wanted
};

/// Where the numbers of a mask's gradient are added up: row-major, without the dimensions that the mask, (B, H, T, keys), is
/// repeated along.
struct MaskPlaces {
    explicit MaskPlaces(const TensorView& mask);

    std::array<Index, 3> steps{}; ///< of batch entries, heads and queries; 0 along what it is repeated along
    Index count = 0;              ///< of numbers
    Index repeats = 1;            ///< of which each is a sum

    /// The first number of a row.
    [[nodiscard]] Index row(Index b, Index h, Index i) const { return b * steps[0] + h * steps[1] + i * steps[2]; }
};

/// Sums over all queries, in double.
struct GradientSums {
    std::vector<double> mask = {};  ///< in their MaskPlaces; or none
    std::vector<double> sinks = {}; ///< (H), where there are sinks
    double scale = 0;
    bool overflowed = false; ///< as AttentionNotes has it
};

/// Of scores that are products of queries and keys, with masks behind the scale. Portable whatever the isa. Throws
/// Error(internal), with the shapes, when they do not belong together, and for other scores.
GradientSums attention_backward(const AttentionInputs& inputs, const AttentionOptions& options, const LossGradients& loss,
                                const GradientOutputs& outputs, const Work& work);

} // namespace attn::core
