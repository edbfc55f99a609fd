// Elementary functions whose last bit is the same on every processor.
//
// The C library picks fused variants of exp, log, sin, cos and tanh when the program starts, and their last bits differ
// from the unfused ones. These use only additions, multiplications, divisions, square roots and, where said, std::fma,
// which are exact everywhere, in a fixed order. Whatever includes this header compiles with -ffp-contract=off.
#pragma once

#include <bit>
#include <cstdint>

namespace attn::math {

/// e^x, within 0.8 units in the last place (0 below the smallest denormal, infinity above the largest double, NaN stays).
/// Without a branch, so that a plain loop over it becomes vector instructions; always inlined, so that files compiled for
/// different instruction sets share no copy of it.
[[nodiscard]] [[gnu::always_inline]] inline double exp(double x);

/// The error function 2/√π·∫₀ˣ e^(-t²)dt, within 2e-14 of its size (1.5e-14 was seen): a rational function, since what it is
/// for (the activation of a network) keeps 24 bits. Without a branch and always inlined, as exp.
[[nodiscard]] [[gnu::always_inline]] inline double erf(double x);

/// tanh x, within 2 units in the last place.
[[nodiscard]] double tanh(double x);

/// ln x, bit for bit what glibc 2.28 and later computes on a processor with fused multiply-add, because NumPy's legacy
/// normals are made with it. Uses std::fma.
[[nodiscard]] double log(double x);

/// ln(1 + x) within 1 unit in the last place, bit for bit what glibc 2.36 computes on a processor with fused multiply-add,
/// because the tail of NumPy's ziggurat normals is made with it. Uses std::fma.
[[nodiscard]] double log1p(double x);

struct SineCosine {
    double sine;
    double cosine;
};

/// Sine and cosine of an angle in [-1e5, 1e5] radians, each within 1 unit in the last place; NaN for infinities and NaN.
[[nodiscard]] SineCosine sincos(double angle);

/// The same of an angle in [0, 7], bit for bit what glibc 2.28 and later computes on a processor with fused multiply-add,
/// because PyTorch's normals of float64 are made with it. Uses std::fma.
[[nodiscard]] SineCosine sincos_of_glibc(double angle);

namespace detail {

// All ones where |x| > most, otherwise 0, and for NaN. Compared as integers, as which positive doubles are in the same order,
// because the SSE2 vectoriser of g++ 12 has no comparison of doubles.
constexpr std::uint64_t sign_bit = 0x8000000000000000;
[[gnu::always_inline]] inline std::uint64_t mask_beyond(double most, double x)
{
    const auto limit = std::bit_cast<std::uint64_t>(most);
    constexpr std::uint64_t infinity = 0x7ff0000000000000;
    const std::uint64_t size = std::bit_cast<std::uint64_t>(x) & ~sign_bit;
    const std::uint64_t is_over = (limit - size) >> 63;
    const std::uint64_t is_nan = (infinity - size) >> 63;
    return 0 - (is_over ^ is_nan);
}

// x, or y with the sign of x where the mask is set.
[[gnu::always_inline]] inline double replaced(double x, std::uint64_t mask, double y)
{
    const auto bits = std::bit_cast<std::uint64_t>(x);
    return std::bit_cast<double>((bits & (sign_bit | ~mask)) | (std::bit_cast<std::uint64_t>(y) & mask));
}

// ±most for what is farther out; NaN stays.
[[gnu::always_inline]] inline double at_most(double most, double x)
{
    return replaced(x, mask_beyond(most, x), most);
}

// x = k·ln 2 + rest + rest_low with |rest| ≤ ½·ln 2; k is in `offset_k` as the integer k + 2048, so never negative.
struct Reduced {
    std::uint64_t offset_k;
    double rest;
    double rest_low;
};

[[gnu::always_inline]] inline Reduced reduced_by_ln2(double x)
{
    // Added to a small number, 1.5·2^52 leaves its nearest integer in the low bits of the sum.
    constexpr double to_integer = 0x1.8p52 + 2048;
    constexpr std::uint64_t low_bits = 0x1fff;
    // The high part has 20 zero bits at its end: k·ln2_high is exact for |k| < 2^20, and so is x minus it.
    constexpr double ln2_high = 0x1.62e42fee00000p-1;
    constexpr double ln2_low = 0x1.a39ef35793c76p-33;
    const double shifted = x * 0x1.71547652b82fep0 + to_integer;
    const double k = shifted - to_integer;
    const double high = x - k * ln2_high;
    const double low = k * ln2_low;
    const double rest = high - low;
    return {std::bit_cast<std::uint64_t>(shifted) & low_bits, rest, (high - rest) - low};
}

// e^r - 1 - r for |r| ≤ ½·ln 2, by Taylor's series up to r^13 (what follows is under 2^-57), summed in pairs, and pairs of
// pairs, because a chain of twelve steps would leave the processor waiting.
[[gnu::always_inline]] inline double exp_beyond_linear(double r)
{
    const double r2 = r * r;
    const double r4 = r2 * r2;
    const double first = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
    const double second = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0));
    const double third = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0));
    return (first + r4 * (second + r4 * third)) * r2;
}

// 2^(n - 1024) for n from 2 to 2047.
[[gnu::always_inline]] inline double power_of_two(std::uint64_t n)
{
    return std::bit_cast<double>((n - 1) << 52);
}

} // namespace detail

inline double exp(double x)
{
    const auto [offset_k, rest, rest_low] = detail::reduced_by_ln2(detail::at_most(746.0, x)); // e^x is 0 or infinity beyond
    // e^rest = 1 + rest + small terms: the rounding error of the first sum joins the small terms.
    const double sum = 1.0 + rest;
    const double lost = (1.0 - sum) + rest;
    const double power = sum + (lost + (rest_low + detail::exp_beyond_linear(rest)));
    // 2^k in two factors, since 2^k itself may be out of range; only the second one can round.
    const std::uint64_t half = offset_k >> 1;
    return power * detail::power_of_two(half) * detail::power_of_two(offset_k - half);
}

// x·p(x²)/q(x²), fitted to erf x by tests/oracle/erf_coefficients.py for |x| ≤ 6, beyond which erf x is ±1. No coefficient is
// negative, so nothing cancels; even and odd powers are summed apart, because one chain of eleven steps would leave the
// processor waiting.
inline double erf(double x)
{
    const std::uint64_t beyond = detail::mask_beyond(6.0, x);
    const double r = detail::replaced(x, beyond, 6.0);
    const double z = r * r;
    const double w = z * z;
    const double p_even = 0x1.20dd750429b82p+0 +
                          w * (0x1.0dc8066544959p-4 +
                               w * (0x1.b164fcec2fa3bp-11 +
                                    w * (0x1.c9f428acd86b4p-19 + w * (0x1.2940075f651c8p-28 + w * 0x1.016b7ab38fe2cp-43))));
    const double p_odd =
        0x1.c6618db9591d0p-3 +
        w * (0x1.c09e9365c59ecp-8 + w * (0x1.bd8d0c9be6667p-15 + w * (0x1.16d74e70f30e9p-23 + w * 0x1.dd051efbb9663p-35)));
    const double q_even =
        1.0 +
        w * (0x1.14870d6b45f6cp-3 + w * (0x1.499b78ee29c9ep-9 + w * (0x1.d704af720bc26p-17 +
                                                                     w * (0x1.aa52f41c7a61dp-26 + w * 0x1.ccdf6c6bb5793p-39))));
    const double q_odd = 0x1.0f567d683887cp-1 +
                         w * (0x1.669d95d1d7dd1p-6 +
                              w * (0x1.c3ba7953feb0bp-13 +
                                   w * (0x1.73d6e9ecdf425p-21 + w * (0x1.3f2da94e15958p-31 + w * 0x1.f6322cf0108f3p-50))));
    return detail::replaced(r * ((p_even + z * p_odd) / (q_even + z * q_odd)), beyond, 1.0);
}

} // namespace attn::math
