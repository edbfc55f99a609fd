// The part of a mask that belongs to one tile, as numbers to add.
#pragma once

#include "attn/tensor/view.hpp"

namespace attn::core {

/// Where a tile lies in a mask (B, H, T, ≤ S).
struct BiasPlace {
    Index b, h;
    Index row, rows;
    Index key, keys;
};

/// (rows, keys) → (rows, stride): the numbers to add, 0 or -inf for a boolean mask; 0 where the mask has ended. Returns whether
/// anything is seen. Throws Error(data) for a boolean that is neither 0 nor 1.
[[nodiscard]] bool load_bias(const TensorView& mask, const BiasPlace& place, float* to, Index stride);

} // namespace attn::core
