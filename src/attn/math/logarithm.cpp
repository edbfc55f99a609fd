// log and log1p as glibc computes them on a processor with fused multiply-add, operation by operation: which products are
// fused was read off the machine code of libm.so.6 (Debian 12, glibc 2.36), and every fused one is a std::fma here.
#include "attn/math/elementary.hpp"
#include "attn/math/log_table.hpp"

#include <cmath>
#include <limits>

namespace attn::math {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::uint64_t bits_of(double x)
{
    return std::bit_cast<std::uint64_t>(x);
}

// ln(1 + r) for r = x - 1 in [-1/16, 0x1.09p-4): r - r²/2 in two parts, then the rest of the series.
double log_near_one(double r)
{
    const auto& b = log_table::near_one;
    const double r2 = r * r;
    const double r3 = r * r2;
    const double first = std::fma(r2, b[3], std::fma(r, b[2], b[1]));
    const double second = std::fma(r2, b[6], std::fma(r, b[5], b[4]));
    const double third = std::fma(r3, b[10], std::fma(r2, b[9], std::fma(r, b[8], b[7])));
    const double series = std::fma(std::fma(third, r3, second), r3, first);
    // The upper half of the bits of r, so that its square is exact.
    const double upper = std::fma(-0x1p27, r, std::fma(r, 0x1p27, r));
    const double square = upper * upper;
    const double high = std::fma(square, b[0], r);
    const double low = std::fma(b[0] * (r - upper), r + upper, std::fma(square, b[0], r - high));
    return high + std::fma(series, r3, low);
}

// ln(m·2^e) from the bits of a positive normal number: m is in one of 128 intervals, whose c is close to it, and
// ln x = e·ln 2 + ln c + ln(1 + r) with r = m/c - 1. `exponent_bias` is added to e.
double log_by_table(std::uint64_t bits, int exponent_bias)
{
    constexpr std::uint64_t lowest = 0x3fe6000000000000; // 0x1.6p-1, where the intervals start
    const std::uint64_t above = bits - lowest;
    const log_table::Interval& interval = log_table::intervals[(above >> 45) & 127];
    const auto exponent = static_cast<double>(static_cast<int>(static_cast<std::int64_t>(above) >> 52) + exponent_bias);
    const auto mantissa = std::bit_cast<double>(bits - (above & 0xfff0000000000000));

    const auto& a = log_table::small;
    const double r = std::fma(mantissa, interval.inverse, -1.0);
    const double whole = std::fma(exponent, log_table::ln2_high, interval.logarithm);
    const double high = whole + r;
    const double r2 = r * r;
    const double low = std::fma(r2, a[0], std::fma(exponent, log_table::ln2_low, (whole - high) + r));
    const double series = std::fma(std::fma(r, a[4], a[3]), r2, std::fma(r, a[2], a[1]));
    return std::fma(r * r2, series, low) + high;
}

// How 1 + x is taken apart by log1p: (1 + f)·2^k, with 1 + f between √½ and √2, and what rounding 1 + x lost, relative to it.
struct OnePlus {
    int k;
    double f;
    double lost;
    bool f_is_tiny; ///< the upper 20 bits of its mantissa are zero
};

OnePlus one_plus(double x)
{
    constexpr std::uint32_t root_two = 0x6a09e; // upper 20 bits of the mantissa of √2
    const double sum = x < 0x1p53 ? 1.0 + x : x;
    const std::uint64_t bits = bits_of(sum);
    int k = static_cast<int>(bits >> 52) - 1023;
    const double lost = x < 0x1p53 ? (k > 0 ? 1.0 - (sum - x) : x - (sum - 1.0)) / sum : 0.0;
    const auto upper = static_cast<std::uint32_t>(bits >> 32) & 0xfffff;
    const std::uint64_t mantissa = bits & 0xfffffffffffff;
    if (upper < root_two) {
        return {k, std::bit_cast<double>(mantissa | 0x3ff0000000000000) - 1.0, lost, upper == 0};
    }
    return {k + 1, std::bit_cast<double>(mantissa | 0x3fe0000000000000) - 1.0, lost, (0x100000 - upper) >> 2 == 0};
}

constexpr double ln2_upper = 0x1.62e42feep-1;
constexpr double ln2_rest = 0x1.a39ef35793c76p-33;

// The series of ln(1 + f) - f + f²/2 in s = f/(2 + f), as s·(f²/2 + R(s²)); the coefficients are those of Sun's fdlibm
// (1993), near to 2/3, 2/5, 2/7, …
double beyond_square(double f, double half_square)
{
    const double s = f / (2.0 + f);
    const double z = s * s;
    const double z2 = z * z;
    const double z4 = z2 * z2;
    const double pair_2 = std::fma(0x1.2492494229359p-2, z, 0x1.999999997fa04p-2);
    const double pair_3 = std::fma(0x1.7466496cb03dep-3, z, 0x1.c71c51d8e78afp-3);
    const double pair_4 = std::fma(0x1.2f112df3e5244p-3, z, 0x1.39a09d078c69fp-3);
    const double series = std::fma(z2 * z4, pair_4, std::fma(z4, pair_3, std::fma(z, 0x1.5555555555593p-1, z2 * pair_2)));
    return s * (series + half_square);
}

double log_of(const OnePlus& number)
{
    const auto [k, f, lost, f_is_tiny] = number;
    const double exponent = k;
    const double low = std::fma(exponent, ln2_rest, lost);
    const double half_square = (f * 0.5) * f;
    if (f_is_tiny) {
        if (f == 0.0) {
            return k == 0 ? 0.0 : std::fma(exponent, ln2_upper, low);
        }
        const double rest = std::fma(-0x1.5555555555555p-1, f, 1.0) * half_square;
        return k == 0 ? f - rest : std::fma(exponent, ln2_upper, -((rest - low) - f));
    }
    const double beyond = beyond_square(f, half_square);
    if (k == 0) {
        return f - (half_square - beyond);
    }
    return std::fma(exponent, ln2_upper, -((half_square - (low + beyond)) - f));
}

} // namespace

double log(double x)
{
    const std::uint64_t bits = bits_of(x);
    constexpr std::uint64_t near_one_from = 0x3fee000000000000; // 1 - 1/16
    constexpr std::uint64_t near_one_width = 0x3090000000000;
    if (bits - near_one_from < near_one_width) {
        return x == 1.0 ? 0.0 : log_near_one(x - 1.0);
    }
    if (x == 0.0) {
        return -infinity;
    }
    if (!(x > 0.0)) {
        return not_a_number;
    }
    if (x == infinity) {
        return x;
    }
    const bool denormal = x < std::numeric_limits<double>::min();
    return denormal ? log_by_table(bits_of(x * 0x1p52), -52) : log_by_table(bits, 0);
}

double log1p(double x)
{
    if (!(x >= -1.0)) {
        return not_a_number;
    }
    if (x == -1.0) {
        return -infinity;
    }
    if (x == infinity) {
        return x;
    }
    const double size = std::fabs(x);
    if (size < 0x1p-29) {
        return size < 0x1p-54 ? x : std::fma(-(x * x), 0.5, x);
    }
    // -0.2929 < x < 0.41422, by the upper 32 bits: 1 + x needs no exponent, and x itself is f.
    const auto upper = static_cast<std::uint32_t>(bits_of(x) >> 32);
    const bool within_root_two = x < 0 ? upper <= 0xbfd2bec3 : upper < 0x3fda827a;
    return log_of(within_root_two ? OnePlus{0, x, 0.0, false} : one_plus(x));
}

} // namespace attn::math
