// A tensor as PyTorch's print(tensor) writes the whole of it, so that an article's printout and this are the same text:
//
//   tensor([[ 0.5146,  0.9938],
//           [-0.2587,  1.0826]])     numbers padded to one width, rows below each other, an empty line between matrices
//
// One notation for the whole tensor, that of notation_of_row; "1." where every number is whole. Lines of at most 80 columns.
// More than 1,000 elements are summarised: the first and last three along each dimension, "..." between them, and only those
// count for the notation and the width. Source: torch/_tensor_str.py of 1.13, with its default options.
#pragma once

#include "attn/tensor/shape.hpp"

#include <span>
#include <string>

namespace attn::report {

/// `values` are as many as the shape needs, row-major. `digits` after the point are torch.set_printoptions(precision=digits).
/// The default dtype is float32, so that float64 is named; there is no gradient. No newline at the end.
template <typename Scalar>
[[nodiscard]] std::string torch_text(std::span<const Scalar> values, const Shape& shape, int digits);

} // namespace attn::report
