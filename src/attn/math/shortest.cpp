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

/// For one number. The longest is "-1234567890123456774144.0"; copies of a fixed length go beyond the end of their text.
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
// std::to_chars of GCC 12 takes three times as long, 22 ns per number beside 7, and would be half the time of `run --lines`. A
// double has room for the 24 bits of a float32 and 29 more, enough to tell which decimals are nearer to it than to its
// neighbours. Where the 29 bits could mislead, and for numbers of a form that is rare in results, the library decides.

/// The floats of one binary exponent, counted in units of 10^exponent, which is chosen so that neighbours are 1 to 10 apart.
struct Spacing {
    double units_in_one = 0; ///< 10^-exponent; 0 where the library is to write
    double half_step = 0;    ///< half the way to the next float, in units
    int exponent = 0;
};

constexpr int mantissa_bits = 23;
constexpr std::uint32_t mantissa_mask = (1U << mantissa_bits) - 1;

/// By the bits of the binary exponent; of floats below 2^23 that are not subnormal.
constexpr auto spacings = [] {
    std::array<Spacing, 256> all{};
    double step = 1;
    for (std::size_t bits = 127 + mantissa_bits - 1; bits > 0; --bits) {
        step /= 2;
        Spacing& spacing = all[bits];
        long double units = 1;
        for (; units * step < 1; units *= 10) {
            --spacing.exponent;
        }
        spacing.units_in_one = static_cast<double>(units);
        spacing.half_step = static_cast<double>(units * step / 2);
    }
    return all;
}();

/// digits·10^exponent
struct Decimal {
    std::uint32_t digits = 0; ///< at most nine, the last not 0; 0: the library is to find them
    int exponent = 0;         ///< below 0
};

/// Not negative.
std::uint32_t rounded(double value)
{
    const double half_more = value + 0.5;
    return static_cast<std::uint32_t>(half_more);
}

/// Of the decimals with the fewest digits that read back to ±`value`, the nearest. None for powers of two, whose neighbours
/// are not equally far, nor for integers, which are written in full.
Decimal find_shortest(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const Spacing& spacing = spacings[bits >> mantissa_bits & 0xFFU];
    const bool is_power_of_2 = (bits & mantissa_mask) == 0;
    if (spacing.units_in_one == 0 || is_power_of_2) {
        return {};
    }
    const double units = std::abs(static_cast<double>(value)) * spacing.units_in_one; // below 2^24·10
    constexpr double margin = 1e-6;                                                   // roundings make less than 5e-7
    const std::uint32_t ones = rounded(units);
    std::uint32_t tens = rounded(units * 0.1);
    const double off_ones = std::abs(units - ones);
    const double off_tens = std::abs(units - 10.0 * tens);
    if (off_ones > 0.5 - margin || std::abs(off_tens - spacing.half_step) < margin) {
        return {};
    }
    if (off_tens > spacing.half_step) {
        return {ones, spacing.exponent};
    }
    int exponent = spacing.exponent + 1;
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
/// is faster; what they write beyond the end is nobody's. Digits go where they belong at once: to read them back from memory
/// in larger pieces than they were written has to wait for it.
char* write_decimal(char* out, Decimal decimal)
{
    constexpr std::array<std::uint32_t, 9> powers{1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
    std::size_t count = powers.size();
    while (decimal.digits < powers[count - 1]) {
        --count;
    }
    const std::uint32_t padded = decimal.digits * powers[powers.size() - count];
    const auto write_digits = [padded](char* to) {
        std::memcpy(to, triples[padded / 1'000'000].data(), 4);
        std::memcpy(to + 3, triples[padded / 1'000 % 1'000].data(), 4);
        std::memcpy(to + 6, triples[padded % 1'000].data(), 4);
    };
    const int exponent = decimal.exponent + static_cast<int>(count) - 1; // of the first digit
    if (exponent < 0 && exponent >= (count == 1 ? -3 : -4)) {
        constexpr std::array zeros{'0', '.', '0', '0', '0'};
        std::memcpy(out, zeros.data(), zeros.size());
        write_digits(out + 1 - exponent);
        return out + 1 - exponent + count;
    }
    const int whole = std::max(exponent, 0) + 1; // digits before the point
    write_digits(out + 1);
    out[0] = out[1];
    if (whole > 1) { // a copy of no fixed length, which most numbers do without
        std::copy(out + 2, out + 1 + whole, out + 1);
    }
    out[whole] = '.';
    if (exponent >= 0) {
        return out + count + 1;
    }
    // It has two digits and is negative.
    const std::array<char, 4> power{'e', '-', static_cast<char>('0' - exponent / 10), static_cast<char>('0' - exponent % 10)};
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
void append_shortest(std::string& out, std::span<const Scalar> values)
{
    constexpr std::size_t batch = 64;
    std::array<char, batch * room> text; // NOLINT(*-member-init): written first
    for (std::size_t start = 0; start < values.size(); start += batch) {
        char* end = text.data();
        for (const Scalar value : values.subspan(start, std::min(batch, values.size() - start))) {
            end = write_finite(end, value);
            *end++ = ',';
        }
        out.append(text.data(), end);
    }
    if (!values.empty()) {
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
