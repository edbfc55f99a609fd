// How the numbers of a matrix are written.
#pragma once

#include "attn/tensor/shape.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::report {

enum class Notation { fixed, scientific };

/// What has one notation.
enum class NotationRule {
    fixed, ///< a matrix: notation_of
    row,   ///< each of its rows, as PyTorch prints that row alone: notation_of_row
    torch, ///< the whole array, which is then no table but PyTorch's own text: torch_text
};
inline constexpr std::array<std::string_view, 3> notation_names{"fixed", "row", "torch"};

/// Fixed, unless that says nothing: scientific where even the largest magnitude would be written as zero, or is 100,000 or
/// more, from where on fixed is longer than scientific. Infinities and NaN do not count; zeros alone are fixed.
template <typename Scalar>
[[nodiscard]] Notation notation_of(std::span<const Scalar> numbers, int digits);

/// Scientific when, zeros aside, the largest magnitude is over 1000 times the smallest, the largest is over 1e8 or the smallest
/// is under 1e-4. Infinities and NaN do not count.
template <typename Scalar>
[[nodiscard]] Notation notation_of_row(std::span<const Scalar> row);

/// Of each of the `rows` of a matrix.
template <typename Scalar>
[[nodiscard]] std::vector<Notation> notations_of(std::span<const Scalar> matrix, Index rows, NotationRule rule, int digits);

[[nodiscard]] std::string text_of(double value, Notation notation, int digits);

} // namespace attn::report
