#include "attn/random/torch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace {

// The naive oracle: one lane at a time, with the C library's fmaf, frexpf and branches, straight from the description in
// Cephes (logf.c, sinf.c) and with the fused operations of PyTorch's AVX2 build.
float naive_log(float x)
{
    int e = 0;
    float m = std::frexp(x, &e);
    if (m < std::sqrt(0.5F)) {
        --e;
        m = (m - 1.0F) + m;
    } else {
        m = m - 1.0F;
    }
    const float z = m * m;
    float p = 7.0376836292e-2F;
    for (const float c : {-1.1514610310e-1F, 1.1676998740e-1F, -1.2420140846e-1F, 1.4249322787e-1F, -1.6668057665e-1F,
                          2.0000714765e-1F, -2.4999993993e-1F, 3.3333331174e-1F}) {
        p = std::fma(p, m, c);
    }
    p = p * m;
    const auto exponent = static_cast<float>(e);
    p = std::fma(p, z, exponent * -2.12194440e-4F);
    p = std::fma(-z, 0.5F, p);
    const float sum = m + p;
    return std::fma(exponent, 0.693359375F, sum);
}

struct SineCosine {
    float sine;
    float cosine;
};

SineCosine naive_sine_cosine(float x)
{
    int octant = static_cast<int>(x * 1.27323954473516F);
    octant = (octant + 1) / 2 * 2;
    const auto y = static_cast<float>(octant);
    x = std::fma(y, -0.78515625F, x);
    x = std::fma(y, -2.4187564849853515625e-4F, x);
    x = std::fma(y, -3.77489497744594108e-8F, x);
    const float z = x * x;
    float c = std::fma(2.443315711809948e-5F, z, -1.388731625493765e-3F);
    c = std::fma(c, z, 4.166664568298827e-2F);
    c = c * z;
    c = std::fma(c, z, -(z * 0.5F)) + 1.0F;
    float s = std::fma(-1.9515295891e-4F, z, 8.3321608736e-3F);
    s = std::fma(s, z, -1.6666654611e-1F);
    s = s * z;
    s = std::fma(s, x, x);
    switch (octant % 8) {
    case 0: return {s, c};
    case 2: return {c, -s};
    case 4: return {-s, -c};
    default: return {-c, s};
    }
}

constexpr std::uint32_t uniforms = 1U << 24;
constexpr std::uint32_t half = 8;

TEST(ToStandardNormals, IsTheNaiveOneForEveryUniformThereIs)
{
    constexpr float two_pi = 2 * std::numbers::pi_v<float>;
    for (std::uint32_t start = 0; start < uniforms; start += half) {
        std::array<float, 16> block{};
        for (std::uint32_t j = 0; j < half; ++j) {
            block[j] = static_cast<float>(start + j) * 0x1p-24F;
            block[half + j] = static_cast<float>((start + j) * 5 % uniforms) * 0x1p-24F; // an odd factor reaches each one once
        }
        std::array<float, 16> wanted{};
        for (std::uint32_t j = 0; j < half; ++j) {
            const float radius = std::sqrt(-2.0F * naive_log(1.0F - block[j]));
            const auto [sine, cosine] = naive_sine_cosine(two_pi * block[half + j]);
            wanted[j] = radius * cosine;
            wanted[half + j] = radius * sine;
        }
        attn::random::to_standard_normals(block);
        for (std::uint32_t j = 0; j < 2 * half; ++j) {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(block[j]), std::bit_cast<std::uint32_t>(wanted[j]))
                << start << " " << j << ": " << block[j] << ", expected " << wanted[j];
        }
    }
}

TEST(ToStandardNormals, IsBoxAndMullersTransform)
{
    std::array<float, 16> block{};
    for (std::uint32_t j = 0; j < half; ++j) {
        block[j] = static_cast<float>(j) / 8;
        block[half + j] = static_cast<float>(j) / 8;
    }
    attn::random::to_standard_normals(block);
    for (std::uint32_t j = 0; j < half; ++j) {
        const double uniform = j / 8.0;
        const double radius = std::sqrt(-2 * std::log(1 - uniform));
        EXPECT_NEAR(block[j], radius * std::cos(2 * std::numbers::pi * uniform), 1e-6);
        EXPECT_NEAR(block[half + j], radius * std::sin(2 * std::numbers::pi * uniform), 1e-6);
    }
}

} // namespace
