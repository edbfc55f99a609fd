// Elementary functions whose last bit is the same on every processor.
//
// The C library picks fused variants of exp, log, sin, cos and tanh when the program starts, and their last bits differ
// from the unfused ones. These use only additions, multiplications, divisions, square roots and, where said, std::fma,
// which are exact everywhere, in a fixed order (compiled with -ffp-contract=off).
#pragma once

namespace attn::math {

/// e^x, within 1 unit in the last place (0 below the smallest denormal, infinity above the largest double, NaN stays).
[[nodiscard]] double exp(double x);

/// tanh x, within 2 units in the last place.
[[nodiscard]] double tanh(double x);

/// ln x, bit for bit what glibc 2.28 and later computes on a processor with fused multiply-add, because NumPy's legacy
/// normals are made with it.
[[nodiscard]] double log(double x);

/// ln(1 + x) for x > -1, within 2 units in the last place.
[[nodiscard]] double log1p(double x);

struct SineCosine {
    double sine;
    double cosine;
};

/// Sine and cosine of an angle in [-1e5, 1e5] radians, each within 1 unit in the last place.
[[nodiscard]] SineCosine sincos(double angle);

} // namespace attn::math
