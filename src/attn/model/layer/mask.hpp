// Masks that come as tensors: boolean, true = seen, or numbers that are added to the scores, integers among them, as the
// operator of ONNX adds them.
#pragma once

#include "attn/tensor/view.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace attn::model {

/// What becomes of a last dimension shorter than S: the operator of ONNX masks the keys beyond it, NumPy repeats one of
/// length 1.
enum class ShortMask { hides, repeats };

/// The mask as a view of shape `target` (…, T, S): missing dimensions in front and those of length 1 are repeated, the last one
/// as is said. Throws Error(data), naming `what`, for another shape.
[[nodiscard]] TensorView broadcast_mask(TensorView mask, const Shape& target, ShortMask last,
                                        std::string_view what = "the mask");

/// Throws Error(data), naming `what` and the first number, where one is neither 0 nor 1.
void require_zeros_and_ones(const TensorView& view, std::string_view what, const Arriving* arriving = nullptr);

/// A warning where a mask of numbers holds only 0 and 1: false and true were meant, most likely.
[[nodiscard]] std::optional<std::string> doubt_about(const TensorView& mask);

} // namespace attn::model
