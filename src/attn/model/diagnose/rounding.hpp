// Rounding to the types that kernels compute in.
#pragma once

#include "attn/model/diagnose/variant.hpp"
#include "attn/tensor/element.hpp"

#include <span>

namespace attn::model::diagnose {

/// That of a floating-point type; float64 is exact.
[[nodiscard]] Precision precision_of(ElementType type);
[[nodiscard]] double rounded(double value, Precision precision);
void round_all(std::span<double> values, Precision precision);

/// The smallest normal and the largest finite number of a floating-point type.
[[nodiscard]] double smallest_normal(ElementType type);
[[nodiscard]] double largest_finite(ElementType type);
/// What is nearer to 0 becomes 0.
void flush_all(std::span<double> values, double smallest);

} // namespace attn::model::diagnose
