// The tiled path for 64-bit Arm. This file alone is compiled with its instructions; see kernels.hpp.
#include "attn/core/tiles/vector_neon.hpp"

#include "attn/core/tiles/kernels_body.hpp"

namespace attn::core {

constinit const TileKernels neon_kernels = table;

} // namespace attn::core
