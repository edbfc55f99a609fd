// The tiled path for AVX-512 F, DQ and BF16. This file alone is compiled with all of their instructions; see kernels.hpp.
#include "attn/core/tiles/vector_avx512.hpp"

#include "attn/core/tiles/kernels_body.hpp"

namespace attn::core {

constinit const TileKernels avx512_bf16_kernels = table;

} // namespace attn::core
