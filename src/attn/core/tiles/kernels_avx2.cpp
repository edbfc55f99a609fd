// The tiled path for AVX2, FMA and F16C. This file alone is compiled with its instructions; see kernels.hpp.
#include "attn/core/tiles/vector_avx2.hpp"

#include "attn/core/tiles/kernels_body.hpp"

namespace attn::core {

constinit const TileKernels avx2_kernels = table;

} // namespace attn::core
