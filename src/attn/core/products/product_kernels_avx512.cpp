// Eight float64 a vector. This file alone is compiled with AVX-512; see product_kernels.hpp.
#include "attn/tensor/shape.hpp"

namespace attn::core {
namespace {

constexpr Index lanes = 8, vectors = 4; ///< of 32 registers

} // namespace
} // namespace attn::core

#include "attn/core/products/product_kernels_body.hpp"

namespace attn::core {

constinit const ProductKernels avx512_product_kernels = product_kernels;

} // namespace attn::core
