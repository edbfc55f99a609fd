#include "attn/model/check/agreement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace attn::model {
namespace {

/// Sign and magnitude of a float's bits as a number that grows with the float; both zeros give 0.
template <typename Signed, typename Bits>
std::int64_t ordered(Bits bits)
{
    constexpr Bits sign = Bits(Bits{1} << (8 * sizeof(Bits) - 1));
    const auto magnitude = static_cast<std::int64_t>(static_cast<Signed>(bits & Bits(~sign)));
    return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::int64_t step_of(double value, ElementType type)
{
    switch (type) {
    case ElementType::float16: return ordered<std::int16_t>(to_float16(value));
    case ElementType::bfloat16: return ordered<std::int16_t>(to_bfloat16(value));
    case ElementType::float32: return ordered<std::int32_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    default: return ordered<std::int64_t>(std::bit_cast<std::uint64_t>(value));
    }
}

} // namespace

Tolerance usual_tolerance(ElementType type)
{
    switch (type) {
    case ElementType::float16: return {1e-3, 1e-5};
    case ElementType::bfloat16: return {1.6e-2, 1e-5};
    case ElementType::float32: return {1.3e-6, 1e-5};
    case ElementType::float64: return {1e-7, 1e-7};
    default: return {};
    }
}

Tolerance usual_tolerance(ElementType a, ElementType b)
{
    const Tolerance one = usual_tolerance(a);
    const Tolerance other = usual_tolerance(b);
    return {std::max(one.rtol, other.rtol), std::max(one.atol, other.atol)};
}

bool within(double computed, double stated, const Tolerance& tolerance, bool equal_nan)
{
    if (computed == stated || (std::isnan(computed) && std::isnan(stated))) {
        return equal_nan || computed == stated;
    }
    return std::isfinite(computed) && std::isfinite(stated) &&
           std::abs(computed - stated) <= tolerance.atol + tolerance.rtol * std::abs(stated);
}

double absolute_difference(double computed, double stated)
{
    return computed == stated ? 0 : std::abs(computed - stated);
}

std::uint64_t ulps_between(double x, double y, ElementType type)
{
    if (x == y || (std::isnan(x) && std::isnan(y))) {
        return 0;
    }
    if (!std::isfinite(x) || !std::isfinite(y)) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    const std::int64_t a = step_of(x, type);
    const std::int64_t b = step_of(y, type);
    return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
                 : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

void Tally::count(bool agrees)
{
    if (!agrees && mismatched++ == 0) {
        first = compared;
    }
    ++compared;
}

void Tally::count(bool agrees, double difference, double stated)
{
    if (std::isfinite(difference) && difference > largest_absolute) {
        largest_absolute = difference;
        absolute_at = compared;
    }
    if (std::isfinite(difference) && stated != 0 && difference > largest_relative * std::abs(stated)) {
        largest_relative = difference / std::abs(stated);
        relative_at = compared;
    }
    if (!agrees && !std::isfinite(difference) && unmeasured++ == 0) {
        first_unmeasured = compared;
    }
    count(agrees);
}

} // namespace attn::model
