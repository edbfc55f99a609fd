// The kernels of kernels.hpp, for the `lanes`, `vectors_by_8` and `vectors_by_4` of the file that includes this: that many
// vectors of tokens fit into the registers beside 8 or 4 outputs.
#pragma once

#include "attn/math/elementary.hpp"
#include "attn/transformer/layers/kernels.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace attn::transformer {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

using Vector = float __attribute__((vector_size(4 * lanes)));

// From and to memory that is aligned for a float. (A type with this alignment would be one for GCC alone.)
[[gnu::always_inline]] inline Vector load(const float* from)
{
    Vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
}
[[gnu::always_inline]] inline void store(float* to, Vector x)
{
    std::memcpy(to, &x, sizeof x);
}

constexpr Index most_vectors = vectors_by_4 > vectors_by_8 ? vectors_by_4 : vectors_by_8;

// ---- products ----------------------------------------------------------------------------------------------------------

/// W[j][k]
template <Index outputs>
struct RowWeights {
    const float* row[outputs];

    [[gnu::always_inline]] float at(Index j, Index k) const { return row[j][k]; }
};

/// W[k·step + j]
struct ColumnWeights {
    const float* first;
    Index step;

    [[gnu::always_inline]] float at(Index j, Index k) const { return first[k * step + j]; }
};

template <Index outputs, Index vectors, typename Weights>
[[gnu::always_inline]] inline void add_block(const Weights& W, Index count, const float* X, float* sums)
{
    constexpr Index width = vectors * lanes;
    Vector sum[outputs][vectors] = {};
    for (Index k = 0; k < count; ++k) {
        Vector x[vectors];
#pragma GCC unroll 16
        for (Index v = 0; v < vectors; ++v) {
            x[v] = load(X + k * width + v * lanes);
        }
#pragma GCC unroll 16
        for (Index j = 0; j < outputs; ++j) {
            const float w = W.at(j, k);
#pragma GCC unroll 16
            for (Index v = 0; v < vectors; ++v) {
                sum[j][v] += x[v] * w;
            }
        }
    }
#pragma GCC unroll 16
    for (Index j = 0; j < outputs; ++j) {
#pragma GCC unroll 16
        for (Index v = 0; v < vectors; ++v) {
            float* const to = sums + j * width + v * lanes;
            store(to, load(to) + sum[j][v]);
        }
    }
}

template <Index vectors>
void add_rows(const float* const* W, Index count, const float* X, float* sums)
{
    if constexpr (vectors <= vectors_by_8) {
        add_block<panel, vectors>(RowWeights<panel>{{W[0], W[1], W[2], W[3], W[4], W[5], W[6], W[7]}}, count, X, sums);
    } else {
        add_block<4, vectors>(RowWeights<4>{{W[0], W[1], W[2], W[3]}}, count, X, sums);
        add_block<4, vectors>(RowWeights<4>{{W[4], W[5], W[6], W[7]}}, count, X, sums + 4 * vectors * lanes);
    }
}

template <Index vectors>
void add_columns(const float* W, Index step, Index count, const float* X, float* sums)
{
    if constexpr (vectors <= vectors_by_8) {
        add_block<panel, vectors>(ColumnWeights{W, step}, count, X, sums);
    } else {
        add_block<4, vectors>(ColumnWeights{W, step}, count, X, sums);
        add_block<4, vectors>(ColumnWeights{W + 4, step}, count, X, sums + 4 * vectors * lanes);
    }
}

template <Index vectors = 1>
void add_products(const float* const* W, Index count, const float* X, Index width, float* sums)
{
    if constexpr (vectors < most_vectors) {
        if (width > vectors * lanes) {
            return add_products<vectors + 1>(W, count, X, width, sums);
        }
    }
    add_rows<vectors>(W, count, X, sums);
}

template <Index vectors = 1>
void add_column_products(const float* W, Index step, Index count, const float* X, Index width, float* sums)
{
    if constexpr (vectors < most_vectors) {
        if (width > vectors * lanes) {
            return add_column_products<vectors + 1>(W, step, count, X, width, sums);
        }
    }
    add_columns<vectors>(W, step, count, X, sums);
}

// ---- 16-bit weights ----------------------------------------------------------------------------------------------------

/// Whatever stands in the low 16 bits.
inline std::uint32_t half_at(const std::byte* from, Index i)
{
    std::uint16_t half = 0;
    __builtin_memcpy(&half, from + 2 * i, sizeof(half));
    return half;
}

void widen_bfloat16(const std::byte* from, Index count, float* to)
{
    for (Index i = 0; i < count; ++i) {
        to[i] = __builtin_bit_cast(float, half_at(from, i) << 16U);
    }
}

void widen_float16(const std::byte* from, Index count, float* to)
{
    for (Index i = 0; i < count; ++i) {
        const std::uint32_t half = half_at(from, i);
        const std::uint32_t size = (half & 0x7fffU) << 13U;
        // 2^112 takes the exponent's bias from 15 to 127, exactly, of denormals too; what was infinite or NaN must stay so.
        const auto scaled = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, size) * 0x1p112F);
        const std::uint32_t special = size >= (0x7c00U << 13U) ? 0x7f800000U : 0U;
        to[i] = __builtin_bit_cast(float, scaled | special | (half & 0x8000U) << 16U);
    }
}

// ---- activations -------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline double sigmoid_times(double x, double z) // x / (1 + e^(-z))
{
    return x / (1.0 + math::exp(-z));
}

template <typename Function>
[[gnu::always_inline]] inline void each(float* x, Index count, Function function)
{
    for (Index i = 0; i < count; ++i) {
        x[i] = static_cast<float>(function(static_cast<double>(x[i])));
    }
}

void activate(Activation f, float* x, Index count)
{
    constexpr double root_half = 0.70710678118654752;         // √½
    constexpr double twice_root_of_2_pi = 1.5957691216057308; // 2·√(2/π)
    switch (f) {
    case Activation::gelu: return each(x, count, [](double v) { return 0.5 * v * (1.0 + math::erf(v * root_half)); });
    case Activation::gelu_tanh: // ½·(1 + tanh u) = 1 / (1 + e^(-2u))
        return each(x, count, [](double v) { return sigmoid_times(v, twice_root_of_2_pi * (v + 0.044715 * (v * v * v))); });
    case Activation::quick_gelu: return each(x, count, [](double v) { return sigmoid_times(v, 1.702 * v); });
    case Activation::silu: return each(x, count, [](double v) { return sigmoid_times(v, v); });
    case Activation::relu:
        for (Index i = 0; i < count; ++i) {
            x[i] = x[i] < 0 ? 0 : x[i]; // NaN stays
        }
    }
}

/// The table of the file that includes this.
constexpr LayerKernels kernels_called(std::string_view name)
{
    return {.name = name,
            .lanes = lanes,
            .most_tokens = most_vectors * lanes,
            .add_products = add_products<1>,
            .add_column_products = add_column_products<1>,
            .widen_float16 = widen_float16,
            .widen_bfloat16 = widen_bfloat16,
            .activate = activate};
}

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::transformer
