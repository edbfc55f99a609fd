#include "attn/math/decimal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace attn::math {
namespace {

/// The longest is "-2.2250738585072014e-308"; copies of a fixed length write beyond the end of the text.
constexpr std::size_t room = 40;

/// A finite number as std::to_chars finds it, with ".0" where there is neither a point nor an exponent. Gives the end.
template <typename Scalar>
char* write_with_library(char* out, Scalar value)
{
    if (value == 0) { // often: the weight of a masked word
        const std::string_view zero = std::signbit(value) ? "-0.0" : "0.0";
        return std::copy(zero.begin(), zero.end(), out);
    }
    char* end = std::to_chars(out, out + room, value).ptr;
    if (value == std::floor(value) && std::find(out, end, 'e') == end) { // others have a point
        *end++ = '.';
        *end++ = '0';
    }
    return end;
}

// ---- float32 ---------------------------------------------------------------------------------------------------------
//
// The C++ library of GCC 12 takes 30 ns for a float32 of a result, twice as long as this: half the time of `run --lines`. A
// double has room for the 24 bits of a float32 and 29 more, enough to tell which decimals are nearer to it than to its
// neighbours, except in rare cases that are noticed and left to the library.

/// The floats of one binary exponent, in units of 10^exponent, of which 1 to 10 lie between neighbours.
struct Scale {
    double units = 0;     ///< in 1: 10^-exponent; 0 where the library is to write
    double half_step = 0; ///< half the way to the next float, in units
    int exponent = 0;
};

constexpr int mantissa_bits = 23;
constexpr std::uint32_t mantissa_mask = (1U << mantissa_bits) - 1;

/// By the bits of the binary exponent; of floats below 2^23 that are not subnormal.
constexpr auto scales = [] {
    std::array<Scale, 256> all{};
    double step = 1;
    for (std::size_t bits = 127 + mantissa_bits - 1; bits > 0; --bits) {
        step /= 2;
        Scale& scale = all[bits];
        long double units = 1; // more digits than a double, so that only the last rounding counts
        for (; units * step < 1; units *= 10) {
            --scale.exponent;
        }
        scale.units = static_cast<double>(units);
        scale.half_step = static_cast<double>(units * step / 2);
    }
    return all;
}();

/// digits·10^exponent
struct Decimal {
    std::uint32_t digits = 0; ///< at most nine, the last not 0; 0: the library is to find them
    int exponent = 0;         ///< below 0
};

/// Of the decimals with the fewest digits that read back to ±`value`, the nearest. Not of powers of two, whose neighbours are
/// not equally far, and of integers, which show digits that are not needed to read them back.
Decimal find_shortest(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const Scale& scale = scales[bits >> mantissa_bits & 0xFFU];
    const bool is_power_of_2 = (bits & mantissa_mask) == 0;
    if (scale.units == 0 || is_power_of_2) {
        return {};
    }
    const double scaled = std::abs(static_cast<double>(value)) * scale.units; // below 2^24·10
    constexpr double roundings = 1e-6;                                        // of which there are 4e-8 at most
    const auto ones = static_cast<std::uint32_t>(scaled + 0.5);
    auto tens = static_cast<std::uint32_t>(scaled * 0.1 + 0.5);
    const double to_ones = std::abs(scaled - ones);
    const double to_tens = std::abs(scaled - 10.0 * tens);
    if (to_ones > 0.5 - roundings || std::abs(to_tens - scale.half_step) < roundings) {
        return {};
    }
    if (to_tens > scale.half_step) {
        return {ones, scale.exponent};
    }
    int exponent = scale.exponent + 1;
    for (; tens % 10 == 0; tens /= 10) {
        ++exponent;
    }
    return exponent < 0 ? Decimal{tens, exponent} : Decimal{};
}

/// "000" … "999"
constexpr auto triples = [] {
    std::array<std::array<char, 4>, 1000> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = {static_cast<char>('0' + i / 100), static_cast<char>('0' + i / 10 % 10), static_cast<char>('0' + i % 10)};
    }
    return all;
}();

/// In fixed notation unless scientific is shorter, as std::to_chars writes it. Gives the end. Copies have a fixed length, which
/// is faster, and what is too much is written over.
char* write_decimal(char* out, Decimal decimal)
{
    constexpr std::array<std::uint32_t, 9> powers{1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
    std::size_t count = powers.size();
    while (decimal.digits < powers[count - 1]) {
        --count;
    }
    const std::uint32_t nine = decimal.digits * powers[powers.size() - count];
    std::array<char, 16> digits{};
    std::memcpy(&digits[0], triples[nine / 1'000'000].data(), 4);
    std::memcpy(&digits[3], triples[nine / 1'000 % 1'000].data(), 4);
    std::memcpy(&digits[6], triples[nine % 1'000].data(), 4);

    const int exponent = decimal.exponent + static_cast<int>(count) - 1; // of the first digit
    if (exponent >= 0) {
        std::memcpy(out, digits.data(), digits.size());
        char* const point = out + exponent + 1;
        *point = '.';
        std::memcpy(point + 1, digits.data() + exponent + 1, 8);
        return out + count + 1;
    }
    if (exponent >= (count == 1 ? -3 : -4)) {
        std::memcpy(out, "0.000", 5);
        std::memcpy(out + 1 - exponent, digits.data(), digits.size());
        return out + 1 - exponent + count;
    }
    const std::array<char, 4> power{'e', '-', static_cast<char>('0' - exponent / 10), static_cast<char>('0' - exponent % 10)};
    out[0] = digits[0];
    out[1] = '.';
    std::memcpy(out + 2, digits.data() + 1, 8);
    out += count == 1 ? 1 : count + 1;
    std::memcpy(out, power.data(), power.size());
    return out + power.size();
}

char* write_finite(char* out, float value)
{
    const Decimal decimal = find_shortest(value);
    if (decimal.digits == 0) {
        return write_with_library(out, value);
    }
    *out = '-';
    return write_decimal(out + static_cast<int>(value < 0), decimal);
}

char* write_finite(char* out, double value)
{
    return write_with_library(out, value);
}

} // namespace

template <typename Scalar>
void append_shortest(std::string& out, std::span<const Scalar> finite)
{
    constexpr std::size_t most = 64;    // to be written at once
    std::array<char, most * room> text; // NOLINT(*-member-init): written first
    for (std::size_t start = 0; start < finite.size(); start += most) {
        char* end = text.data();
        for (const Scalar value : finite.subspan(start, std::min(most, finite.size() - start))) {
            end = write_finite(end, value);
            *end++ = ',';
        }
        out.append(text.data(), end);
    }
    if (!finite.empty()) {
        out.pop_back(); // the last comma
    }
}

template void append_shortest(std::string&, std::span<const float>);
template void append_shortest(std::string&, std::span<const double>);

template <typename Scalar>
void append_shortest(std::string& out, Scalar value)
{
    if (std::isfinite(value)) {
        append_shortest(out, std::span<const Scalar>(&value, 1));
    } else {
        out += fixed(static_cast<double>(value), 0); // its name
    }
}

template void append_shortest(std::string&, float);
template void append_shortest(std::string&, double);

template <typename Scalar>
std::string shortest(Scalar value)
{
    std::string text;
    append_shortest(text, value);
    return text;
}

template std::string shortest(float);
template std::string shortest(double);

} // namespace attn::math
