// Four float64 a vector. This file alone is compiled with AVX2; see portable_kernels.hpp.
#include "attn/tensor/shape.hpp"

namespace attn::core {
namespace {

constexpr Index lanes = 4, vectors = 2; ///< of 16 registers

} // namespace
} // namespace attn::core

#include "attn/core/portable/portable_kernels_body.hpp"

namespace attn::core {

constinit const PortableKernels avx2_portable_kernels = portable_kernels;

} // namespace attn::core
