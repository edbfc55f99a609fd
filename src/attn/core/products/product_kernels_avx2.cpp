// Four float64 a vector. This file alone is compiled with AVX2; see product_kernels.hpp.
#include "attn/tensor/shape.hpp"

namespace attn::core {
namespace {

constexpr Index lanes = 4, vectors = 2; ///< of 16 registers

} // namespace
} // namespace attn::core

#include "attn/core/products/product_kernels_body.hpp"

namespace attn::core {

constinit const ProductKernels avx2_product_kernels = product_kernels;

} // namespace attn::core
