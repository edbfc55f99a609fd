// How the numbers of one row are written, so that they can be laid beside what PyTorch prints of it.
#pragma once

#include <span>
#include <string>

namespace attn::report {

enum class Notation { fixed, scientific };

/// Scientific when, zeros aside, the largest magnitude is over 1000 times the smallest, the largest is over 1e8 or the smallest
/// is under 1e-4. Infinities and NaN do not count.
template <typename Scalar>
[[nodiscard]] Notation notation_of(std::span<const Scalar> row);

[[nodiscard]] std::string text_of(double value, Notation notation, int digits);

extern template Notation notation_of(std::span<const float>);
extern template Notation notation_of(std::span<const double>);

} // namespace attn::report
