#include "attn/tensor/element.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace attn {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers, and views read them in place");

/// Sign, `Exponent` bits, `Fraction` bits: binary16 is <5, 10>, bfloat16 <8, 7>.
template <int Exponent, int Fraction>
std::uint16_t rounded(double value)
{
    static_assert(1 + Exponent + Fraction == 16);
    constexpr int least = 2 - (1 << (Exponent - 1)); // the exponent of the smallest normal number, and of the subnormal ones
    constexpr std::uint64_t infinity = ((1ULL << Exponent) - 1) << Fraction;

    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = bits >> 63U << 15U;
    const int biased = static_cast<int>(bits >> 52U & 0x7ffU);
    const std::uint64_t fraction = bits & ((1ULL << 52U) - 1);
    if (biased == 0x7ff) {
        return static_cast<std::uint16_t>(sign | infinity | (fraction == 0 ? 0 : 1ULL << (Fraction - 1)));
    }
    const int exponent = biased - 1023;
    const int shift = 52 - Fraction + std::max(0, least - exponent);
    if (shift > 53) { // less than half of the smallest subnormal number, as is every subnormal double
        return static_cast<std::uint16_t>(sign);
    }
    const std::uint64_t significand = fraction | 1ULL << 52U;
    const std::uint64_t rest = significand & ((1ULL << shift) - 1);
    const std::uint64_t half = 1ULL << (shift - 1);
    std::uint64_t kept = significand >> shift; // of a normal number with its leading 1, which counts one up in the exponent
    kept += rest > half || (rest == half && (kept & 1U) == 1) ? 1 : 0;
    const auto steps = static_cast<std::uint64_t>(std::max(exponent, least) - least);
    return static_cast<std::uint16_t>(sign | std::min((steps << Fraction) + kept, infinity));
}

template <typename Stored, typename Scalar, typename Convert>
void convert_to(std::byte* to, std::span<const Scalar> values, Convert convert)
{
    for (const Scalar value : values) {
        const Stored stored = convert(value);
        std::memcpy(to, &stored, sizeof(Stored));
        to += sizeof(Stored);
    }
}

template <typename Integer>
Integer cut(double value)
{
    constexpr int bits = std::numeric_limits<Integer>::digits;
    const double beyond = std::ldexp(1.0, bits);
    if (!(value >= -beyond && value < beyond)) {
        throw Error(ErrorKind::data, fmt::format("int{} element", bits + 1), std::to_string(value),
                    fmt::format("-2^{0} to 2^{0}-1", bits));
    }
    return static_cast<Integer>(value);
}

} // namespace

Index size_of(ElementType type)
{
    switch (type) {
    case ElementType::boolean:
    case ElementType::uint8: return 1;
    case ElementType::float16:
    case ElementType::bfloat16: return 2;
    case ElementType::float32:
    case ElementType::int32: return 4;
    case ElementType::float64:
    case ElementType::int64: return 8;
    }
    return 0;
}

std::string_view name_of(ElementType type)
{
    switch (type) {
    case ElementType::float16: return "float16";
    case ElementType::bfloat16: return "bfloat16";
    case ElementType::float32: return "float32";
    case ElementType::float64: return "float64";
    case ElementType::boolean: return "bool";
    case ElementType::uint8: return "uint8";
    case ElementType::int32: return "int32";
    case ElementType::int64: return "int64";
    }
    return "";
}

bool is_integer(ElementType type)
{
    return type == ElementType::uint8 || type == ElementType::int32 || type == ElementType::int64;
}

bool is_half(ElementType type)
{
    return type == ElementType::float16 || type == ElementType::bfloat16;
}

float from_float16(std::uint16_t bits)
{
    const std::uint32_t sign = (bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7fffU;
    if (magnitude >= 0x7c00U) { // infinity and NaN
        return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13U);
    }
    // Read as a binary32 the exponent is 2^112 too small: 15 is the bias of binary16, 127 that of binary32.
    const float value = std::bit_cast<float>(magnitude << 13U) * 0x1p112F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

float from_bfloat16(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t to_float16(double value)
{
    return rounded<5, 10>(value);
}

std::uint16_t to_bfloat16(double value)
{
    return rounded<8, 7>(value);
}

template <typename Scalar>
void to_bytes(ElementType type, std::span<const Scalar> values, std::byte* to)
{
    switch (type) {
    case ElementType::float16: return convert_to<std::uint16_t>(to, values, to_float16);
    case ElementType::bfloat16: return convert_to<std::uint16_t>(to, values, to_bfloat16);
    case ElementType::float32: return convert_to<float>(to, values, [](Scalar value) { return static_cast<float>(value); });
    case ElementType::float64: return convert_to<double>(to, values, [](Scalar value) { return static_cast<double>(value); });
    case ElementType::boolean: return convert_to<std::uint8_t>(to, values, [](Scalar value) { return value != 0; });
    case ElementType::uint8:
        return convert_to<std::uint8_t>(to, values, [](Scalar value) {
            return static_cast<std::uint8_t>(value > 0 ? std::min(value, Scalar{255}) : Scalar{0});
        });
    case ElementType::int32: return convert_to<std::int32_t>(to, values, cut<std::int32_t>);
    case ElementType::int64: return convert_to<std::int64_t>(to, values, cut<std::int64_t>);
    }
}

template <typename Scalar>
std::vector<std::byte> to_bytes(ElementType type, std::span<const Scalar> values)
{
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(size_of(type)));
    to_bytes(type, values, bytes.data());
    return bytes;
}

template void to_bytes(ElementType, std::span<const float>, std::byte*);
template void to_bytes(ElementType, std::span<const double>, std::byte*);
template std::vector<std::byte> to_bytes(ElementType, std::span<const float>);
template std::vector<std::byte> to_bytes(ElementType, std::span<const double>);

} // namespace attn
