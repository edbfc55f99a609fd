// Eight float64 a vector. This file alone is compiled with AVX-512; see portable_kernels.hpp.
#include "attn/tensor/shape.hpp"

namespace attn::core {
namespace {

constexpr Index lanes = 8, vectors = 4; ///< of 32 registers

} // namespace
} // namespace attn::core

#include "attn/core/portable/portable_kernels_body.hpp"

namespace attn::core {

constinit const PortableKernels avx512_portable_kernels = portable_kernels;

} // namespace attn::core
