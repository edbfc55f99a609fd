// Masks that come as tensors: boolean, true = seen, or numbers that are added to the scores.
#pragma once

#include "attn/tensor/view.hpp"

namespace attn::model {

/// The mask as a view of shape `target` (…, T, S): missing dimensions in front and those of length 1 are repeated. The last one
/// may stay shorter than S: keys beyond it are masked. Throws Error(data) for another shape, and for integers.
[[nodiscard]] TensorView broadcast_mask(TensorView mask, const Shape& target);

} // namespace attn::model
