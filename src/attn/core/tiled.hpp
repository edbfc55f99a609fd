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
// the portable path and not the same. Memory, apart from the results, is a few hundred KiB per thread.
#pragma once

#include "attn/core/attention.hpp"

namespace attn::core {

/// Whether the rows of this view can be read where they are: float32, float16 or bfloat16 in native byte order, aligned, the
/// last dimension without gaps.
[[nodiscard]] bool readable_in_tiles(const TensorView& view);
/// The same of queries, keys, values and cache. Otherwise one key/value head after the other is converted to float32.
[[nodiscard]] bool readable_in_tiles(const AttentionInputs& inputs);

/// attention() for inputs that tiles_serve, and whose range is not beyond. Throws Error(internal) for an isa that is not
/// available.
void tiled_attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                     const Look& look, const Work& work);

} // namespace attn::core
