// Sixteen float32 in an AVX-512 register: what kernels_body.hpp is written in. For kernels_avx512.cpp alone.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace attn::core {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

using Vector = __m512; // + - * / of each element are the compiler's own
using Integers = std::uint32_t __attribute__((vector_size(64)));

using Index = std::ptrdiff_t;

constexpr Index lanes = 16;
constexpr Index query_vectors = 4; ///< of a tile of 64 queries
constexpr Index key_tile = 64;
constexpr Index most_query_vectors = 4;   ///< scores: 4 keys by 4 vectors of queries, 16 of the 32 registers
constexpr Index at_once_by_two = 8;       ///< scalars by 2 vectors, 16 registers again
constexpr Index most_power_vectors = 4;   ///< softmax
constexpr Index most_feature_vectors = 6; ///< context: 4 queries by up to 6 vectors of features

inline Vector load(const float* p)
{
    return _mm512_loadu_ps(p);
}
inline void store(float* p, Vector v)
{
    _mm512_storeu_ps(p, v);
}
inline Vector all(float value)
{
    return _mm512_set1_ps(value);
}
/// a·b + c, rounded once
inline Vector fma(Vector a, Vector b, Vector c)
{
    return _mm512_fmadd_ps(a, b, c);
}
#ifdef __AVX512BF16__
/// a₁·b₁ + (a₀·b₀ + c), rounded after each sum, of two bfloat16 in each element of a and b. What is denormal counts as 0.
#define ATTN_VECTOR_HAS_PAIRS
inline Vector fma_pairs(Vector a, Vector b, Vector c)
{
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}
inline bool has_denormal(Vector v)
{
    constexpr int denormal = 0x20;
    return _mm512_fpclass_ps_mask(v, denormal) != 0;
}
/// To nearest, ties to even, in the low halves; of what is neither NaN nor denormal.
inline Integers bfloat16_of_normal(Vector v)
{
    return (Integers)_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(v));
}
#endif
/// Of the two; never NaN here.
inline Vector max(Vector a, Vector b)
{
    return _mm512_max_ps(a, b);
}
/// g++ would fold the load of `v` into each operation that uses it, and run out of load ports.
inline void keep_in_register(Vector& v)
{
    asm("" : "+v"(v)); // NOLINT(hicpp-no-assembler)
}

/// 2^n for n = ⌊t⌋, as t itself: AVX-512 has instructions for all of it, and for -inf too.
#define ATTN_VECTOR_HAS_POWERS
using Power = Vector;
constexpr bool power_takes_any_number = true;
/// Of 2^r for 0 ≤ r < 1.
constexpr float power_coefficients[] = {
    0.000217022563F, 0.00124396873F, 0.00967884064F, 0.0554833412F, 0.24022983F, 0.693147004F, 1};

inline Power power_near(Vector t)
{
    return t;
}
/// t - n, rounded down; 0 for -inf
inline Vector rest(Vector t, Power)
{
    return _mm512_reduce_ps(t, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
/// p · 2^n, rounded once
inline Vector times(Vector p, Power power)
{
    return _mm512_scalef_ps(p, power);
}

/// Rows become columns: pairs, then quads of rows within each quarter of a register, then the quarters.
inline void transpose(Vector (&rows)[lanes])
{
    Vector t[lanes];
    for (int i = 0; i < lanes; i += 2) {
        t[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < lanes; i += 4) {
        for (int k = 0; k < 2; ++k) {
            rows[i + 2 * k] = (Vector)_mm512_unpacklo_pd((__m512d)t[i + k], (__m512d)t[i + k + 2]);
            rows[i + 2 * k + 1] = (Vector)_mm512_unpackhi_pd((__m512d)t[i + k], (__m512d)t[i + k + 2]);
        }
    }
    constexpr int even = 0x88, odd = 0xdd; // quarters 0 and 2, 1 and 3, of both
    for (int i = 0; i < 4; ++i) {
        const Vector upper_even = _mm512_shuffle_f32x4(rows[i], rows[i + 4], even);
        const Vector upper_odd = _mm512_shuffle_f32x4(rows[i], rows[i + 4], odd);
        const Vector lower_even = _mm512_shuffle_f32x4(rows[i + 8], rows[i + 12], even);
        const Vector lower_odd = _mm512_shuffle_f32x4(rows[i + 8], rows[i + 12], odd);
        t[i] = _mm512_shuffle_f32x4(upper_even, lower_even, even);
        t[i + 4] = _mm512_shuffle_f32x4(upper_odd, lower_odd, even);
        t[i + 8] = _mm512_shuffle_f32x4(upper_even, lower_even, odd);
        t[i + 12] = _mm512_shuffle_f32x4(upper_odd, lower_odd, odd);
    }
    for (int i = 0; i < lanes; ++i) {
        rows[i] = t[i];
    }
}

inline Vector load_float16(const void* p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
inline void store_float16(void* p, Vector v)
{
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/// 16 bits each, to and from the low half of an integer
inline Integers load_halves(const void* p)
{
    return (Integers)_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
inline void store_halves(void* p, Integers v)
{
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtepi32_epi16((__m512i)v));
}

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::core
