// Eight float32 a vector. This file alone is compiled with AVX2 and FMA, products and sums fused; see kernels.hpp.
#include "attn/tensor/shape.hpp"

namespace attn::transformer {
namespace {

constexpr Index lanes = 8;
constexpr Index vectors_by_8 = 1, vectors_by_4 = 3; ///< of 16 registers

} // namespace
} // namespace attn::transformer

#include "attn/transformer/layers/kernels_body.hpp"

namespace attn::transformer {

constinit const LayerKernels avx2_fused_layer_kernels = kernels_called("avx2_fused");

} // namespace attn::transformer
