// What every processor of the architecture has: two float64 a vector, SSE2 or NEON.
#include "attn/tensor/shape.hpp"

namespace attn::core {
namespace {

constexpr Index lanes = 2;
#if defined(__aarch64__)
constexpr Index vectors = 4; ///< of 32 registers
#else
constexpr Index vectors = 2; ///< of 16 registers
#endif

} // namespace
} // namespace attn::core

#include "attn/core/portable/portable_kernels_body.hpp"

namespace attn::core {

constinit const PortableKernels baseline_portable_kernels = portable_kernels;

} // namespace attn::core
