// How PyTorch makes standard normals in float32: 16 at a time, out of 16 uniforms.
#pragma once

#include <span>

namespace attn::random {

/// Replaces 16 uniforms of [0, 1) by standard normals (Box-Muller): the first eight are radii, the last eight angles;
/// radius·cos goes to the first eight, radius·sin to the last. Bit for bit what PyTorch's AVX2 path computes (normal_fill_AVX2
/// with the single-precision Cephes functions of its AVX math header).
void to_standard_normals(std::span<float, 16> block);

} // namespace attn::random
