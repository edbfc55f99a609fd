// Eight float32 a vector. This file alone is compiled with AVX2; see kernels.hpp.
#include "attn/tensor/shape.hpp"

namespace attn::transformer {
namespace {

constexpr Index lanes = 8;
constexpr Index vectors_by_8 = 1, vectors_by_4 = 3; ///< of 16 registers

} // namespace
} // namespace attn::transformer

#include "attn/transformer/layers/kernels_body.hpp"

namespace attn::transformer {

constinit const LayerKernels avx2_layer_kernels{
    .name = "avx2",
    .lanes = lanes,
    .most_tokens = most_vectors * lanes,
    .add_products = add_products<1>,
    .add_column_products = add_column_products<1>,
    .widen_float16 = widen_float16,
    .widen_bfloat16 = widen_bfloat16,
    .activate = activate,
};

} // namespace attn::transformer
