// Sixteen float32 a vector. This file alone is compiled with AVX-512, products and sums fused; see kernels.hpp.
#include "attn/tensor/shape.hpp"

namespace attn::transformer {
namespace {

constexpr Index lanes = 16;
constexpr Index vectors_by_8 = 3, vectors_by_4 = 3; ///< of 32 registers

} // namespace
} // namespace attn::transformer

#include "attn/transformer/layers/kernels_body.hpp"

namespace attn::transformer {

constinit const LayerKernels avx512_fused_layer_kernels = kernels_called("avx512_fused");

} // namespace attn::transformer
