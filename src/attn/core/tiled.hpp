// The fast path: attention in tiles that stay in cache, in float32, with the widest vectors that the machine has.
//
//   for each head, for each tile of queries, on any thread:
//     for each tile of keys that one of them sees:
//       S' = K·Qᵀ                                   (keys, queries): transposed, so that the softmax is vertical
//       S' = cap and mask                           only where asked for, and only where the tile has an edge in it
//       m' = max(m, column maxima of S')
//       S' = 2^((S' - m')·scale·log2 e)
//       l  = l·2^((m - m')·scale·log2 e) + column sums of S'
//       O  = O·2^((m - m')·scale·log2 e) + S'ᵀ·V
//     context = O / l
//
// (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Dao et al. 2022, "FlashAttention".)
//
// Stages that are asked for come from a second pass over the same tiles. Every sum has one order, which no number of threads
// changes; but it is another one for each instruction set, and its products are fused: the numbers are as good as those of
// attention.hpp and not the same. Memory, beside the results, is a few hundred KiB a thread.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/core/isa.hpp"

#include <span>

namespace attn::core {

/// How large the numbers on the way to the context may become, whatever the tiles do.
enum class Reach {
    near,   ///< of ordinary size: the exponent of a weight takes one fused operation
    far,    ///< finite in float32, but scores so large that their maximum has to be subtracted before anything is rounded
    beyond, ///< perhaps not finite: an input that is not, or a score, its scaling, its bias or a sum of values that may
            ///< overflow
};

/// Inputs of attention as views of four dimensions, read in place; B is the batch. float32, float16 or bfloat16 in native byte
/// order, aligned, the last dimension without gaps (see readable_in_tiles). P is 0 without a cache.
struct TiledInputs {
    TensorView queries;                             ///< (B, H, T, d_k)
    TensorView keys, values;                        ///< (B, H_kv, S, d_k), (B, H_kv, S, d_v)
    std::optional<TensorView> past_key, past_value; ///< (B, H_kv, P, d_k), (B, H_kv, P, d_v): before keys and values
    std::optional<TensorView> mask = {};            ///< (B, H, T, ≤ P+S) of any type: boolean, true = seen, or added
    std::vector<Index> offsets = {};                ///< (B) or none: the place of query 0 among the keys
    std::vector<Index> lengths = {};         ///< (B) or none: valid keys, as AttentionOptions::valid_keys, which is not read
    std::vector<Index> query_positions = {}; ///< (T) or none: the queries' places after `offsets`; else 0, 1, 2, …
    Reach reach = Reach::far;                ///< near where reach_of found it; never beyond
};

/// A stage in somebody's memory; without data it is not kept.
struct StageSpan {
    ElementType type = ElementType::float32; ///< float32, float16 or bfloat16: rounded once
    std::byte* data = nullptr;
    Index batch = 0, head = 0, row = 0; ///< strides, in elements; the last dimension has no gaps
};

/// Where the stages go. `weights` must be zero before.
struct TiledOutputs {
    StageSpan context;                                                      ///< (B, H, T, d_v)
    StageSpan scores, scaled_scores, capped_scores, masked_scores, weights; ///< (B, H, T, P+S)
    StageSpan entropy;                                                      ///< (B, H, T): `row` is the step between queries
};

/// Row-major `values` of three dimensions, (H, n, d), as the batch of one that TiledInputs hold: (1, H, n, d).
[[nodiscard]] TensorView as_batch(Shape shape, std::span<const float> values);

/// Whether the tiled path can read the rows of this view where they are.
[[nodiscard]] bool readable_in_tiles(const TensorView& view);

/// A bound from the largest queries, keys, values, cache and mask, each of which it reads once. What lies beyond is not for the
/// tiled path; attention.hpp takes all.
[[nodiscard]] Reach reach_of(const TiledInputs& inputs, const AttentionOptions& options);

/// Throws Error(internal) for shapes that do not belong together or views that are not readable_in_tiles, for
/// AttentionOptions::softmax_type other than float32, and for an isa that is `portable` or not available.
void tiled_attention(const TiledInputs& inputs, const AttentionOptions& options, const TiledOutputs& outputs, const Work& work,
                     Isa isa);

/// What no tiles compute, as a message names it.
inline constexpr std::string_view float64_numbers = "float64";
inline constexpr std::string_view numbers_beyond = "numbers that are not finite or may overflow on the way";
/// Of options; empty when tiles compute all of them.
[[nodiscard]] std::string_view beyond_tiles(const AttentionOptions& options);

/// The same in the shape of attention(): for `isa` portable, for inputs whose reach is beyond, for a softmax type, for rounding
/// step by step and for slopes it is attention() itself, and Stages::portable_because says which, but for the first.
[[nodiscard]] Stages<float> attention(const Heads<float>& heads, const AttentionOptions& options, const Keep& keep,
                                      const Work& work, Isa isa);

} // namespace attn::core
