// Eight float32 in an AVX register: what kernels_body.hpp is written in. For kernels_avx2.cpp alone.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace attn::core {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

using Vector = __m256; // + - * / of each element are the compiler's own
using Integers = std::uint32_t __attribute__((vector_size(32)));

using Index = std::ptrdiff_t;

constexpr Index lanes = 8;
constexpr Index query_vectors = 6; ///< of a tile of 48 queries
constexpr Index key_tile = 96;
constexpr Index most_query_vectors = 3;   ///< scores: 4 keys by 3 vectors of queries, 12 of the 16 registers
constexpr Index at_once_by_two = 6;       ///< scalars by 2 vectors, 12 registers again
constexpr Index most_power_vectors = 2;   ///< softmax
constexpr Index most_feature_vectors = 3; ///< context: 4 queries by up to 3 vectors of features

inline Vector load(const float* p)
{
    return _mm256_loadu_ps(p);
}
inline void store(float* p, Vector v)
{
    _mm256_storeu_ps(p, v);
}
inline Vector all(float value)
{
    return _mm256_set1_ps(value);
}
/// a·b + c, rounded once
inline Vector fma(Vector a, Vector b, Vector c)
{
    return _mm256_fmadd_ps(a, b, c);
}
/// Of the two; never NaN here.
inline Vector max(Vector a, Vector b)
{
    return _mm256_max_ps(a, b);
}
/// g++ would fold the load of `v` into each operation that uses it, and run out of load ports.
inline void keep_in_register(Vector& v)
{
    asm("" : "+x"(v)); // NOLINT(hicpp-no-assembler)
}

/// Rows become columns: pairs, then quads of rows within each half of a register, then the halves.
inline void transpose(Vector (&rows)[lanes])
{
    Vector t[lanes];
    for (int i = 0; i < lanes; i += 2) {
        t[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < lanes; i += 4) {
        for (int k = 0; k < 2; ++k) {
            rows[i + 2 * k] = (Vector)_mm256_unpacklo_pd((__m256d)t[i + k], (__m256d)t[i + k + 2]);
            rows[i + 2 * k + 1] = (Vector)_mm256_unpackhi_pd((__m256d)t[i + k], (__m256d)t[i + k + 2]);
        }
    }
    constexpr int low = 0x20, high = 0x31; // halves of both
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm256_permute2f128_ps(rows[i], rows[i + 4], low);
        t[i + 4] = _mm256_permute2f128_ps(rows[i], rows[i + 4], high);
    }
    for (int i = 0; i < lanes; ++i) {
        rows[i] = t[i];
    }
}

inline Vector load_float16(const void* p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
inline void store_float16(void* p, Vector v)
{
    _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/// 16 bits each, to and from the low half of an integer below 2^16
inline Integers load_halves(const void* p)
{
    return (Integers)_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
inline void store_halves(void* p, Integers v)
{
    const auto halves = (__m256i)v;
    _mm_storeu_si128(static_cast<__m128i*>(p),
                     _mm_packus_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
}

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::core
