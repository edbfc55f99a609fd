// Sixteen float32 in an AVX-512 register: what tile_kernels_body.hpp is written in. For tiled_avx512.cpp alone.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace attn::core {
namespace {

using Vector = __m512; // + - * / of each element are the compiler's own
using Integers = std::int32_t __attribute__((vector_size(64)));

constexpr int lanes = 16;
constexpr int query_vectors = 4; ///< of a tile of 64 queries
constexpr int key_tile = 64;
constexpr int most_query_vectors = 4;   ///< scores: 4 keys by 4 vectors of queries, 16 of the 32 registers
constexpr int most_feature_vectors = 6; ///< context: 4 queries by up to 6 vectors of features

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

/// a0 b0 a1 b1 … of the first and of the second halves.
inline Vector zip_low(Vector a, Vector b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Vector zip_high(Vector a, Vector b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
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
} // namespace attn::core
