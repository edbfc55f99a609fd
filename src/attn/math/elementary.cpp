#include "attn/math/elementary.hpp"

#include <cmath>

namespace attn::math {

namespace {

struct TwoParts {
    double high;
    double low;
};

// a + b = high + low exactly (Knuth's two-sum).
TwoParts exact_sum(double a, double b)
{
    const double sum = a + b;
    const double b_part = sum - a;
    return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// e^x - 1 for ½ < x ≤ 44.
double exp_minus_one(double x)
{
    const auto [offset_k, rest, rest_low] = detail::reduced_by_ln2(x);
    const double small = rest_low + detail::exp_beyond_linear(rest);
    // 2^k·(1 + rest + small) - 1, where 2^k - 1 is rounded from k = 54 on, to what the 1 no longer changes.
    const auto scale = std::bit_cast<double>((offset_k - 2048 + 1023) << 52);
    const auto [high, low] = exact_sum(scale - 1.0, scale * rest);
    return high + (low + scale * small);
}

// tanh x for |x| ≤ 0.35, as x minus a small term: the continued fraction x/(1 + x²/(3 + x²/(5 + … x²/13))) multiplied out
// (what is left out is under 2^-58).
double tanh_near_zero(double x)
{
    const double z = x * x;
    const double numerator = (27.0 * z + 2772.0) * z + 45045.0;
    const double denominator = ((28.0 * z + 3150.0) * z + 62370.0) * z + 135135.0;
    return x - x * (z * numerator / denominator);
}

// π/2 in parts of 33 bits, so that a product with a quarter-turn count below 2^20 is exact, and a last one to double precision.
constexpr double half_pi_1 = 0x1.921fb544p0;
constexpr double half_pi_2 = 0x1.0b4611a6p-34;
constexpr double half_pi_3 = 0x1.3198a2e0p-69;
constexpr double half_pi_4 = 0x1.b839a252049c1p-104;

// x - k·π/2 as high + low.
TwoParts turned_back(double x, double k)
{
    const TwoParts first = exact_sum(x - k * half_pi_1, -(k * half_pi_2));
    const TwoParts second = exact_sum(first.high, -(k * half_pi_3));
    return exact_sum(second.high, (first.low + second.low) - k * half_pi_4);
}

// sin(x + low) for |x| ≤ π/4: Taylor's series up to x^17 (what follows is under 2^-60).
double sine_near_zero(double x, double low)
{
    const double z = x * x;
    double p = 1.0 / 355687428096000.0; // 1/17!
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return x + (p * (z * x) + low * (1.0 - 0.5 * z));
}

// cos(x + low) for |x| ≤ π/4: Taylor's series up to x^16 (what follows is under 2^-58).
double cosine_near_zero(double x, double low)
{
    const double z = x * x;
    double p = 1.0 / 20922789888000.0; // 1/16!
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    const double half = 0.5 * z;
    const double leading = 1.0 - half;
    return leading + (((1.0 - leading) - half) + (p * (z * z) - x * low));
}

} // namespace

double tanh(double x)
{
    // From 22 on, 1 - tanh x is under half a unit of the last place of 1.
    const double size = std::fabs(x) > 22.0 ? 22.0 : std::fabs(x);
    if (size <= 0.35) {
        return std::copysign(tanh_near_zero(size), x);
    }
    const double e = exp_minus_one(2.0 * size);
    return std::copysign(e / (e + 2.0), x);
}

SineCosine sincos(double angle)
{
    if (!std::isfinite(angle)) {
        return {angle - angle, angle - angle};
    }
    if (angle == 0.0) {
        return {angle, 1.0}; // keeps the sign of a zero
    }
    constexpr double to_integer = 0x1.8p52;
    const double k = (angle * 0x1.45f306dc9c883p-1 + to_integer) - to_integer;
    const auto [x, low] = turned_back(angle, k);
    const double sine = sine_near_zero(x, low);
    const double cosine = cosine_near_zero(x, low);
    switch (static_cast<std::int64_t>(k) & 3) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
    }
}

} // namespace attn::math
