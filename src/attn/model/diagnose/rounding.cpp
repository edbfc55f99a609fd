#include "attn/model/diagnose/rounding.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attn::model::diagnose {
namespace {

/// 10 bits of fraction, ties to even; infinities and NaN stay.
double to_tf32(double value)
{
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (!std::isfinite(value)) {
        return value;
    }
    constexpr std::uint32_t lost = 0x1fff;
    const std::uint32_t even = (bits >> 13) & 1;
    return std::bit_cast<float>((bits + lost / 2 + even) & ~lost);
}

} // namespace

Precision precision_of(ElementType type)
{
    switch (type) {
    case ElementType::float16: return Precision::float16;
    case ElementType::bfloat16: return Precision::bfloat16;
    case ElementType::float32: return Precision::float32;
    default: return Precision::exact;
    }
}

double rounded(double value, Precision precision)
{
    switch (precision) {
    case Precision::exact: return value;
    case Precision::float32: return static_cast<float>(value);
    case Precision::tf32: return to_tf32(value);
    case Precision::bfloat16: return from_bfloat16(to_bfloat16(value));
    case Precision::float16: return from_float16(to_float16(value));
    }
    return value;
}

void round_all(std::span<double> values, Precision precision)
{
    if (precision == Precision::exact) {
        return;
    }
    for (double& value : values) {
        value = rounded(value, precision);
    }
}

double smallest_normal(ElementType type)
{
    return type == ElementType::float16 ? 0x1p-14 : type == ElementType::float64 ? 0x1p-1022 : 0x1p-126;
}

double largest_finite(ElementType type)
{
    switch (type) {
    case ElementType::float16: return 65504;
    case ElementType::bfloat16: return 0x1.fep127;
    case ElementType::float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
    }
}

void flush_all(std::span<double> values, double smallest)
{
    for (double& value : values) {
        value = std::abs(value) < smallest ? 0 : value;
    }
}

} // namespace attn::model::diagnose
