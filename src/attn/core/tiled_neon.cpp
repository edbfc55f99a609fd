// The tiled path for 64-bit Arm. This file alone is compiled with its instructions; see tile_kernels.hpp.
#include "attn/core/vector_neon.hpp"

#include "attn/core/tile_kernels_body.hpp"

namespace attn::core {

constinit const TileKernels neon_kernels = table;

} // namespace attn::core
