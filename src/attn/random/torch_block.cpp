// Every product and sum here is rounded to float32 on its own, except where `fma` stands; that is the order of operations of
// PyTorch's build, and none may be changed. Where PyTorch fuses a product that is exact anyway, it is written plainly.
#include "attn/random/torch_block.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace attn::random {

namespace {

constexpr std::size_t half = 8;

// a·b + c rounded to double and then to float32. That differs from rounding once where the double lies halfway between two
// floats, which for none of the 2^24 uniforms happens with an inexact sum: tests/unit/random/torch_block.cpp tries them all.
[[gnu::always_inline]] inline float fma(float a, float b, float c)
{
    return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
}

// `yes` where the mask is all ones, `no` where it is zero: one instruction a vector instead of a branch a lane.
[[gnu::always_inline]] inline float select(std::uint32_t mask, float yes, float no)
{
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(yes) & mask) | (std::bit_cast<std::uint32_t>(no) & ~mask));
}

// ln x for normal x > 0 (Cephes logf): x = m·2^e with m from √½ to √2, then a polynomial in m - 1.
[[gnu::always_inline]] inline float log_cephes(float x)
{
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t mantissa_bits = (bits & 0x007fffffU) | 0x3f000000U;
    const auto mantissa = std::bit_cast<float>(mantissa_bits); // in [0.5, 1)
    // 1 if the mantissa is under √½: positive floats are in the order of their bits.
    const std::uint32_t is_small = (mantissa_bits - std::bit_cast<std::uint32_t>(0.707106781186547524F)) >> 31;
    const auto e = static_cast<float>(static_cast<std::int32_t>((bits >> 23) - 126U - is_small));
    const float m = (mantissa - 1.0F) + select(0U - is_small, mantissa, 0.0F);
    const float z = m * m;
    float p = 7.0376836292e-2F;
    p = fma(p, m, -1.1514610310e-1F);
    p = fma(p, m, 1.1676998740e-1F);
    p = fma(p, m, -1.2420140846e-1F);
    p = fma(p, m, 1.4249322787e-1F);
    p = fma(p, m, -1.6668057665e-1F);
    p = fma(p, m, 2.0000714765e-1F);
    p = fma(p, m, -2.4999993993e-1F);
    p = fma(p, m, 3.3333331174e-1F);
    p = p * m;
    p = fma(p, z, e * -2.12194440e-4F); // ln 2 in two parts, this and 0.693359375
    p = p - z * 0.5F;
    return e * 0.693359375F + (m + p); // nine bits times five
}

struct SineCosine {
    float sine;
    float cosine;
};

// Sine and cosine of an angle ≥ 0 (Cephes sinf, cosf): π/4 times an even number is taken away in three parts.
[[gnu::always_inline]] inline SineCosine sine_cosine_cephes(float angle)
{
    const auto octant = (static_cast<std::uint32_t>(static_cast<std::int32_t>(angle * 1.27323954473516F)) + 1U) & ~1U;
    const auto y = static_cast<float>(static_cast<std::int32_t>(octant));
    float x = angle - y * 0.78515625F; // y is at most 8, and these two parts have few bits
    x = x - y * 2.4187564849853515625e-4F;
    x = fma(y, -3.77489497744594108e-8F, x);
    const float z = x * x;

    float c = fma(2.443315711809948e-5F, z, -1.388731625493765e-3F);
    c = fma(c, z, 4.166664568298827e-2F);
    c = c * z;
    c = fma(c, z, -(z * 0.5F));
    c = c + 1.0F;

    float s = fma(-1.9515295891e-4F, z, 8.3321608736e-3F);
    s = fma(s, z, -1.6666654611e-1F);
    s = s * z;
    s = fma(s, x, x);

    const std::uint32_t is_swapped = 0U - ((octant >> 1) & 1U);
    const std::uint32_t sine_sign = (octant & 4U) << 29;
    const std::uint32_t cosine_sign = (~(octant - 2U) & 4U) << 29;
    return {std::bit_cast<float>(std::bit_cast<std::uint32_t>(select(is_swapped, c, s)) ^ sine_sign),
            std::bit_cast<float>(std::bit_cast<std::uint32_t>(select(is_swapped, s, c)) ^ cosine_sign)};
}

} // namespace

void to_standard_normals(std::span<float, 16> block)
{
    constexpr float two_pi = 6.28318530717958647692F;
    std::array<float, half> radius;
    std::array<float, half> sine;
    std::array<float, half> cosine;
    for (std::size_t j = 0; j < half; ++j) {
        radius[j] = -2.0F * log_cephes(1.0F - block[j]);
    }
    for (std::size_t j = 0; j < half; ++j) {
        const SineCosine both = sine_cosine_cephes(two_pi * block[half + j]);
        sine[j] = both.sine;
        cosine[j] = both.cosine;
    }
    for (std::size_t j = 0; j < half; ++j) {
        const float r = std::sqrt(radius[j]);
        block[j] = r * cosine[j];
        block[half + j] = r * sine[j];
    }
}

} // namespace attn::random
