// Masks that come as tensors: boolean, true = seen, or numbers that are added to the scores.
#pragma once

#include "attn/tensor/view.hpp"

#include <optional>
#include <string>

namespace attn::model {

/// The mask as a view of shape `target` (…, T, S): missing dimensions in front and those of length 1 are repeated. The last one
/// may stay shorter than S: keys beyond it are masked. Throws Error(data) for another shape, and for integers.
[[nodiscard]] TensorView broadcast_mask(TensorView mask, const Shape& target);

/// A warning where a mask of numbers holds only 0 and 1: who wrote it meant false and true, most likely.
[[nodiscard]] std::optional<std::string> doubt_about(const TensorView& mask);

} // namespace attn::model
