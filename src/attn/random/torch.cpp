#include "attn/random/torch.hpp"

#include "attn/math/elementary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

namespace attn::random {

// ---- a block of normals ----------------------------------------------------------------------------------------------------

// Every product and sum here is rounded to float32 on its own, except where `fma` stands; that is the order of operations of
// PyTorch's build, and none may be changed. Where PyTorch fuses a product that is exact anyway, it is written plainly.

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

// ---- the stream ------------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t block = 16;

// One word's low 24 bits over 2^24, as PyTorch makes a float32 of [0, 1).
float unit_float(std::uint32_t word)
{
    return static_cast<float>(static_cast<std::int32_t>(word & 0xffffff)) * 0x1p-24F;
}

} // namespace

TorchStream::TorchStream(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed)) {}

std::vector<float> TorchStream::unit_floats(Index count)
{
    std::vector<float> draws(static_cast<std::size_t>(count));
    for (float& draw : draws) {
        draw = unit_float(engine_());
    }
    return draws;
}

std::vector<double> TorchStream::uniform(Index count, double low, double high)
{
    const auto from = static_cast<float>(low);
    const float width = static_cast<float>(high) - from;
    std::vector<double> draws(static_cast<std::size_t>(count));
    for (double& draw : draws) {
        draw = unit_float(engine_());
    }
    if (from != 0.0F || width != 1.0F) {
        for (double& draw : draws) {
            draw = fused(static_cast<float>(draw), width, from);
        }
    }
    return draws;
}

std::uint64_t TorchStream::two_words()
{
    const std::uint64_t high = engine_();
    return high << 32 | engine_();
}

double TorchStream::unit_double()
{
    return static_cast<double>(static_cast<std::int64_t>(two_words() & 0x1fffffffffffff)) * 0x1p-53;
}

double TorchStream::standard_normal()
{
    if (cached_normal_) {
        const double owed = *cached_normal_;
        cached_normal_.reset();
        return owed;
    }
    const double u1 = unit_double();
    const double u2 = unit_double();
    const double radius = std::sqrt(-2.0 * math::log1p(-u2));
    const auto [sine, cosine] = math::sincos_of_glibc(2.0 * std::numbers::pi * u1);
    cached_normal_ = radius * sine;
    return radius * cosine;
}

std::vector<double> TorchStream::normal_of_float64(Index count, double mean, double deviation)
{
    std::vector<double> draws(static_cast<std::size_t>(count));
    const auto scaled = [=](double draw) { return draw * deviation + mean; };
    if (draws.size() < block) {
        std::ranges::generate(draws, [&] { return scaled(standard_normal()); });
        return draws;
    }
    const std::span<double> all(draws);
    const auto fill = [this](std::span<double> part) { std::ranges::generate(part, [this] { return unit_double(); }); };
    const auto to_normals = [](std::span<double, block> part) {
        for (std::size_t j = 0; j < half; ++j) {
            const double radius = std::sqrt(-2.0 * math::log(1.0 - part[j]));
            const auto [sine, cosine] = math::sincos_of_glibc(2.0 * std::numbers::pi * part[half + j]);
            part[j] = radius * cosine;
            part[half + j] = radius * sine;
        }
    };
    fill(all);
    for (std::size_t start = 0; start + block <= all.size(); start += block) {
        to_normals(all.subspan(start).first<block>());
    }
    if (all.size() % block != 0) {
        fill(all.last<block>()); // overlaps the last whole block
        to_normals(all.last<block>());
    }
    std::ranges::transform(draws, draws.begin(), scaled);
    return draws;
}

std::vector<std::uint8_t> TorchStream::bernoulli(Index count, double p)
{
    std::vector<std::uint8_t> draws(static_cast<std::size_t>(count));
    std::ranges::generate(draws, [&] { return static_cast<std::uint8_t>(unit_double() < p); });
    return draws;
}

std::vector<std::uint8_t> TorchStream::bernoulli_of_mkl(Index count, double p, bool of_float64)
{
    constexpr std::uint64_t modulus = 0x7fffffff;
    constexpr std::uint64_t multiplier = 1132489760;
    if (of_float64) { // two words make its seed, of which MKL takes the low one
        (void)engine_();
    }
    std::uint64_t state = engine_() % modulus;
    state = state == 0 ? 1 : state;
    std::vector<std::uint8_t> draws(static_cast<std::size_t>(count));
    for (std::uint8_t& draw : draws) {
        const auto share = static_cast<float>(static_cast<double>(state) / static_cast<double>(modulus));
        draw = static_cast<std::uint8_t>(share < static_cast<float>(p)); // both in single precision: tried with MKL 2026.2
        state = state * multiplier % modulus;
    }
    return draws;
}

std::vector<double> TorchStream::normal(Index count, double mean, double deviation)
{
    if (count < static_cast<Index>(block)) {
        std::vector<double> draws(static_cast<std::size_t>(count));
        for (double& draw : draws) {
            draw = static_cast<float>(standard_normal() * deviation + mean);
        }
        return draws;
    }
    std::vector<float> draws = unit_floats(count);
    const std::span<float> all(draws);
    for (std::size_t start = 0; start + block <= all.size(); start += block) {
        to_standard_normals(all.subspan(start).first<block>());
    }
    if (all.size() % block != 0) {
        const auto last = all.last<block>(); // overlaps the last whole block
        std::generate(last.begin(), last.end(), [this] { return unit_float(engine_()); });
        to_standard_normals(last);
    }
    const auto scale = static_cast<float>(deviation);
    const auto shift = static_cast<float>(mean);
    std::vector<double> result(draws.size());
    std::transform(draws.begin(), draws.end(), result.begin(), [=](float draw) { return fused(draw, scale, shift); });
    return result;
}

// The remainder of a word, or of two from a range of 2^32 numbers on; a range of one number takes its words, too.
std::vector<double> TorchStream::integers(Index count, std::int64_t low, std::int64_t high)
{
    const auto range = static_cast<std::uint64_t>(high - low);
    const bool wide = range > std::numeric_limits<std::uint32_t>::max();
    std::vector<double> draws(static_cast<std::size_t>(count));
    std::generate(draws.begin(), draws.end(), [&] {
        const std::uint64_t word = wide ? two_words() : engine_();
        return static_cast<double>(low + static_cast<std::int64_t>(word % range));
    });
    return draws;
}

} // namespace attn::random
