// The tiled path for AVX-512 F and DQ. This file alone is compiled with their instructions; see kernels.hpp.
#include "attn/core/tiles/vector_avx512.hpp"

#include "attn/core/tiles/kernels_body.hpp"

namespace attn::core {

constinit const TileKernels avx512_kernels = table;

} // namespace attn::core
