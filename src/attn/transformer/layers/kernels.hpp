// The inner loops of a layer as plain functions over raw pointers, one table of them an instruction set.
//
// All tables but the fused ones give the same bytes: they multiply and add in the same order, in float32, without fused
// operations. A vector holds the same number of several tokens, so that its width changes nothing but the time. The fused ones
// are for who asks for an instruction set, and take less time. As with the tables of core/tiles, nothing but the table
// may come out of a file that is compiled for one instruction set.
#pragma once

#include "attn/core/isa.hpp"
#include "attn/transformer/architecture.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace attn::transformer {

/// Outputs that are computed together.
inline constexpr Index panel = 8;
/// Products that are summed from zero, one after the other, before the sum joins those in front of it.
inline constexpr Index chunk = 256;

struct LayerKernels {
    std::string_view name;
    Index lanes;       ///< tokens of a vector
    Index most_tokens; ///< at once: a whole number of vectors

    /// sums[j·width + t] += Σ_k W[j][k] · X[k·width + t], for j < panel, k < count ≤ chunk, t < width: a whole number of
    /// vectors, up to most_tokens.
    void (*add_products)(const float* const* W, Index count, const float* X, Index width, float* sums);
    /// The same with W[k·W_step + j].
    void (*add_column_products)(const float* W, Index W_step, Index count, const float* X, Index width, float* sums);
    /// 16 bits each, to float32; `from` need not be aligned.
    void (*widen_float16)(const std::byte* from, Index count, float* to);
    void (*widen_bfloat16)(const std::byte* from, Index count, float* to);
    /// x = f(x)
    void (*activate)(Activation f, float* x, Index count);
};

/// Built for every processor of the architecture: SSE2 on x86-64, NEON on 64-bit Arm.
extern const LayerKernels baseline_layer_kernels;
/// These exist only in programs for x86-64.
extern const LayerKernels avx2_layer_kernels, avx512_layer_kernels, avx2_fused_layer_kernels, avx512_fused_layer_kernels;

/// Those that this processor runs and that give the same bytes, the fastest last.
[[nodiscard]] std::vector<const LayerKernels*> available_layer_kernels();
/// The fastest of them, for `portable`; the fused ones of an instruction set that has some, which this processor must run.
[[nodiscard]] const LayerKernels& layer_kernels_of(core::Isa isa);

} // namespace attn::transformer
