#include "attn/math/shortest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace attn::math {
namespace {

// ---- powers of ten ---------------------------------------------------------------------------------------------------

// Of 2^q for q = -149 … 104, the exponents of the smallest and the largest float32.
constexpr int least_k = -45;
constexpr int greatest_k = 31;

/// ⌊e·log10 2⌋ for the exponents at hand.
constexpr int floor_log10_of_power_of_2(int e)
{
    return (e * 1262611) >> 22;
}

/// ⌊e·log2 10⌋
constexpr int floor_log2_of_power_of_10(int e)
{
    return (e * 1741647) >> 19;
}

/// 192 bits, the lowest word first: enough for 10^45, and for 2^191 / 10^31 to 88 bits.
using Wide = std::array<std::uint32_t, 6>;

constexpr Wide times_10(Wide number)
{
    std::uint64_t carry = 0;
    for (std::uint32_t& word : number) {
        carry += std::uint64_t{word} * 10;
        word = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    return number;
}

/// Rounded down; rounding down again and again gives what one division by a power of ten would.
constexpr Wide over_10(Wide number)
{
    std::uint64_t rest = 0;
    for (std::size_t i = number.size(); i-- > 0;) {
        rest = rest << 32 | number[i];
        number[i] = static_cast<std::uint32_t>(rest / 10);
        rest %= 10;
    }
    return number;
}

/// The 64 bits from the highest that is set.
constexpr std::uint64_t leading_bits(const Wide& number)
{
    std::size_t top = number.size() - 1;
    while (number[top] == 0) {
        --top;
    }
    const auto word = [&](std::size_t below) { return below > top ? 0U : number[top - below]; };
    const int zeros = std::countl_zero(number[top]);
    const std::uint64_t high = std::uint64_t{word(0)} << 32 | word(1);
    return high << zeros | (zeros == 0 ? 0U : word(2) >> (32 - zeros));
}

/// 10^-k = g·2^e with 2^63 ≤ g < 2^64, rounded up; e follows from k.
constexpr auto make_powers()
{
    std::array<std::uint64_t, greatest_k - least_k + 1> g{};
    Wide number{1};
    for (int k = 0; k >= least_k; --k, number = times_10(number)) {
        g[static_cast<std::size_t>(k - least_k)] = leading_bits(number);
    }
    number = over_10(Wide{0, 0, 0, 0, 0, 0x80000000U});
    for (int k = 1; k <= greatest_k; ++k, number = over_10(number)) {
        g[static_cast<std::size_t>(k - least_k)] = leading_bits(number) + 1;
    }
    return g;
}

constexpr auto powers = make_powers();

/// How the floats c·2^q of one exponent are scaled: c·g·2^(shift - 96) is the value in units of 10^k.
struct Scale {
    std::uint64_t g = 0;
    std::uint64_t half_step = 0; ///< half the way to the next float, in quarters of 10^k, times 2^32, rounded down
    int shift = 0;
    int k = 0;
};

constexpr Scale scale_of(int q, int k)
{
    const std::uint64_t g = powers[static_cast<std::size_t>(k - least_k)];
    const int shift = q + floor_log2_of_power_of_10(-k) + 33;
    return {g, g >> (63 - shift), shift, k};
}

/// By the exponent's bits, less one: q = -149 for the first.
constexpr auto make_scales()
{
    std::array<Scale, 254> scales{};
    for (int i = 0; i < 254; ++i) {
        scales[static_cast<std::size_t>(i)] = scale_of(i - 149, floor_log10_of_power_of_2(i - 149));
    }
    return scales;
}

constexpr auto scales = make_scales();

// ---- digits ----------------------------------------------------------------------------------------------------------

__extension__ using Word128 = unsigned __int128;

/// digits·10^exponent; the last digits may be zeros.
struct Decimal {
    std::uint32_t digits; ///< six to nine; 0: not found
    int exponent;
};

/// Whether two numbers are too near each other for their roundings to tell which is larger.
bool is_close(std::uint64_t a, std::uint64_t b)
{
    constexpr std::uint64_t roundings = 4;
    return a - b + roundings <= 2 * roundings;
}

/// Of c·2^q, 2^23 < c < 2^24, where 2^q is what `scale` stands for: of the multiples of 10^k, or of 10^(k+1) if one is near
/// enough, the nearest. One product, where the paper takes three, since all distances are rounded; where that could decide,
/// nothing.
[[gnu::always_inline]] inline Decimal shortest_decimal(std::uint32_t c, const Scale& scale)
{
    constexpr std::uint64_t quarter = std::uint64_t{1} << 32U;
    const auto value =
        static_cast<std::uint64_t>(static_cast<Word128>(scale.g) * (std::uint64_t{c} << (scale.shift + 2)) >> 64);
    const std::uint32_t tens = static_cast<std::uint32_t>(value >> 32) / 40;
    const std::uint64_t over_tens = value - tens * (40 * quarter);
    const std::uint64_t under_tens = 40 * quarter - over_tens;
    const std::uint64_t over_ones = value & (4 * quarter - 1);
    const auto close = [](std::uint64_t a, std::uint64_t b) { return static_cast<std::uint32_t>(is_close(a, b)); };
    const std::uint32_t undecided = // one branch for all three
        close(over_tens, scale.half_step) | close(under_tens, scale.half_step) | close(over_ones, 2 * quarter);
    if (undecided != 0) {
        return {0, 0};
    }
    // No branch could be foretold here, so both are computed and chosen from with arithmetic.
    const auto tens_above = static_cast<std::uint32_t>(under_tens < scale.half_step);
    const auto shorter = static_cast<std::uint32_t>(over_tens < scale.half_step) | tens_above;
    const std::uint32_t digits = static_cast<std::uint32_t>(value >> 34) + static_cast<std::uint32_t>(over_ones > 2 * quarter);
    const std::uint32_t chosen = digits ^ ((digits ^ (tens + tens_above)) & (0U - shorter));
    return {chosen, scale.k + static_cast<int>(shorter)};
}

// ---- text ------------------------------------------------------------------------------------------------------------

/// "000" … "999", the first digit in the lowest byte.
constexpr auto make_triples()
{
    std::array<std::uint32_t, 1000> triples{};
    for (std::uint32_t i = 0; i < 1000; ++i) {
        triples[i] = ('0' + i / 100) | ('0' + i / 10 % 10) << 8 | ('0' + i % 10) << 16;
    }
    return triples;
}

constexpr auto triples = make_triples();

constexpr std::array<std::uint32_t, 4> powers_of_10{1, 10, 100, 1000};

/// Of a number of six to nine digits.
int count_digits(std::uint32_t number)
{
    return 6 + static_cast<int>(number >= 1000000) + static_cast<int>(number >= 10000000) +
           static_cast<int>(number >= 100000000);
}

int count_trailing_zeros(std::uint32_t number)
{
    int zeros = 0;
    for (std::uint32_t tenth = number / 10; tenth * 10 == number; tenth = number / 10) {
        number = tenth;
        ++zeros;
    }
    return zeros;
}

constexpr int least_exponent = -45;
constexpr int greatest_exponent = 38;

/// "e-45" … "e+38"
constexpr auto make_exponents()
{
    std::array<std::array<char, 4>, greatest_exponent - least_exponent + 1> exponents{};
    for (int e = least_exponent; e <= greatest_exponent; ++e) {
        const auto size = static_cast<std::size_t>(e < 0 ? -e : e);
        exponents[static_cast<std::size_t>(e - least_exponent)] = {'e', e < 0 ? '-' : '+', static_cast<char>('0' + size / 10),
                                                                   static_cast<char>('0' + size % 10)};
    }
    return exponents;
}

constexpr auto exponents = make_exponents();

/// Eight characters, the first in the lowest byte of `text`.
void put(char* out, std::uint64_t text)
{
    if constexpr (std::endian::native == std::endian::big) {
        text = __builtin_bswap64(text);
    }
    std::memcpy(out, &text, sizeof text);
}

template <typename Scalar>
[[gnu::noinline]] char* write_with_library(char* out, Scalar value)
{
    char* end = std::to_chars(out, out + shortest_room, value).ptr;
    if (std::none_of(out, end, [](char c) { return c == '.' || c == 'e'; })) {
        *end++ = '.';
        *end++ = '0';
    }
    return end;
}

/// ± nine·10^(exponent - 8), of which `count` digits are to be written.
struct Digits {
    std::uint32_t nine; ///< the last ones may be zeros; 0: for the library to find
    std::int16_t exponent;
    std::uint8_t count;
    std::uint8_t negative;
};

/// None for zeros, powers of two, whose neighbours are not equally far, the tiniest floats, integers, which show digits that
/// are not needed to read them back, and what is too near between two decimals.
[[gnu::always_inline]] inline Digits digits_of(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t fraction = bits & 0x7fffffU;
    const std::uint32_t biased = bits >> 23 & 0xffU;
    if (fraction == 0 || biased - 1 >= 254) {
        return {};
    }
    const Decimal decimal = shortest_decimal(fraction | 0x800000U, scales[biased - 1]);
    if (decimal.digits == 0) {
        return {};
    }
    const int length = count_digits(decimal.digits);
    const int zeros = count_trailing_zeros(decimal.digits);
    if (decimal.exponent + zeros >= 0) {
        return {};
    }
    return {decimal.digits * powers_of_10[static_cast<std::size_t>(9 - length)],
            static_cast<std::int16_t>(decimal.exponent + length - 1), static_cast<std::uint8_t>(length - zeros),
            static_cast<std::uint8_t>(bits >> 31)};
}

[[gnu::always_inline]] inline char* write_digits(char* out, const Digits& digits)
{
    *out = '-';
    out += digits.negative;
    const std::uint32_t nine = digits.nine;
    const int exponent = digits.exponent;
    const int count = digits.count;
    // Which notation it is changes from number to number: everything is written always, what does not belong is written over.
    const std::uint32_t thousands = nine / 1000;
    const std::uint32_t leading = triples[thousands / 1000];
    const std::uint64_t eight =
        leading >> 8 | std::uint64_t{triples[thousands % 1000]} << 16 | std::uint64_t{triples[nine % 1000]} << 40;
    const int several = static_cast<int>(count > 1);
    const bool scientific = exponent < -3 - several; // where it is shorter than 0.000123
    const int zeros = scientific ? 0 : std::max(-exponent, 0);
    const int before_point = scientific ? 0 : std::max(exponent, 0); // digits after the first
    put(out, 0x3030303030302e30U);                                   // "0.000000"
    char* first = out + zeros + static_cast<int>(zeros > 0);
    *first = static_cast<char>(leading);
    put(first + 1, eight);
    out[before_point + 1] = '.';
    put(std::max(first + 1, out + before_point + 2), eight >> (8 * before_point));
    char* end = out + count + zeros + (scientific ? several : 1);
    std::memcpy(end, exponents[static_cast<std::size_t>(exponent - least_exponent)].data(), 4);
    return end + (scientific ? 4 : 0);
}

} // namespace

char* write_shortest(char* out, float value)
{
    return write_shortest(out, std::span<const float>(&value, 1));
}

char* write_shortest(char* out, double value)
{
    return write_with_library(out, value);
}

char* write_shortest(char* out, std::span<const float> values)
{
    // Finding digits and writing them in turns would keep a processor waiting: the one takes long for a number, but does not
    // need the number before, the other needs the end of the text before.
    constexpr std::size_t most = 64;
    std::array<Digits, most> digits; // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
    for (std::size_t start = 0; start < values.size(); start += most) {
        const std::span<const float> part = values.subspan(start, std::min(most, values.size() - start));
        for (std::size_t i = 0; i < part.size(); ++i) {
            digits[i] = digits_of(part[i]);
        }
        for (std::size_t i = 0; i < part.size(); ++i) {
            out = digits[i].nine == 0 ? write_with_library(out, part[i]) : write_digits(out, digits[i]);
            *out++ = ',';
        }
    }
    return values.empty() ? out : out - 1;
}

char* write_shortest(char* out, std::span<const double> values)
{
    for (const double value : values) {
        out = write_with_library(out, value);
        *out++ = ',';
    }
    return values.empty() ? out : out - 1;
}

} // namespace attn::math
