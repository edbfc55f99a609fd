// Eight float32 in an AVX register: what tile_kernels_body.hpp is written in. For tiled_avx2.cpp alone.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace attn::core {
namespace {

using Vector = __m256; // + - * / of each element are the compiler's own
using Integers = std::int32_t __attribute__((vector_size(32)));

constexpr int lanes = 8;
constexpr int query_vectors = 6; ///< of a tile of 48 queries
constexpr int key_tile = 96;
constexpr int most_query_vectors = 3;   ///< scores: 4 keys by 3 vectors of queries, 12 of the 16 registers
constexpr int most_feature_vectors = 3; ///< context: 4 queries by up to 3 vectors of features

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

/// a0 b0 a1 b1 … of the first and of the second halves.
inline Vector zip_low(Vector a, Vector b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20);
}
inline Vector zip_high(Vector a, Vector b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31);
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
    const __m256i halves = (__m256i)v;
    _mm_storeu_si128(static_cast<__m128i*>(p),
                     _mm_packus_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
}

} // namespace
} // namespace attn::core
