// What every processor of the architecture has: four float32 a vector, SSE2 or NEON.
#include "attn/tensor/shape.hpp"

namespace attn::transformer {
namespace {

constexpr Index lanes = 4;
#if defined(__aarch64__)
constexpr Index vectors_by_8 = 3, vectors_by_4 = 3; ///< of 32 registers
#else
constexpr Index vectors_by_8 = 1, vectors_by_4 = 3; ///< of 16 registers
#endif

} // namespace
} // namespace attn::transformer

#include "attn/transformer/layers/kernels_body.hpp"

namespace attn::transformer {

constinit const LayerKernels baseline_layer_kernels = kernels_called("baseline");

} // namespace attn::transformer
