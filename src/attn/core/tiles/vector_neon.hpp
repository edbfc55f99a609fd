// Four float32 in a register of 64-bit Arm: what kernels_body.hpp is written in. For kernels_neon.cpp alone.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace attn::core {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

using Vector = float32x4_t; // + - * / of each element are the compiler's own
using Integers = uint32x4_t;

using Index = std::ptrdiff_t;

constexpr Index lanes = 4;
constexpr Index query_vectors = 12; ///< of a tile of 48 queries
constexpr Index key_tile = 64;
constexpr Index most_query_vectors = 4;   ///< scores: 4 keys by 4 vectors of queries, 16 of the 32 registers
constexpr Index at_once_by_two = 8;       ///< scalars by 2 vectors, 16 registers again
constexpr Index most_power_vectors = 4;   ///< softmax
constexpr Index most_feature_vectors = 4; ///< context: 4 queries by up to 4 vectors of features

inline Vector load(const float* p)
{
    return vld1q_f32(p);
}
inline void store(float* p, Vector v)
{
    vst1q_f32(p, v);
}
inline Vector all(float value)
{
    return vdupq_n_f32(value);
}
/// a·b + c, rounded once
inline Vector fma(Vector a, Vector b, Vector c)
{
    return vfmaq_f32(c, a, b);
}
/// Of the two; never NaN here.
inline Vector max(Vector a, Vector b)
{
    return vmaxq_f32(a, b);
}
inline void keep_in_register(Vector& v)
{
    asm("" : "+w"(v)); // NOLINT(hicpp-no-assembler)
}

/// Rows become columns: twice each of the upper rows is zipped with the one two further on.
inline void transpose(Vector (&rows)[lanes])
{
    for (int round = 0; round < 2; ++round) {
        const Vector zipped[lanes] = {vzip1q_f32(rows[0], rows[2]), vzip2q_f32(rows[0], rows[2]), //
                                      vzip1q_f32(rows[1], rows[3]), vzip2q_f32(rows[1], rows[3])};
        for (int i = 0; i < lanes; ++i) {
            rows[i] = zipped[i];
        }
    }
}

inline Vector load_float16(const void* p)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(static_cast<const std::uint16_t*>(p))));
}
inline void store_float16(void* p, Vector v)
{
    vst1_u16(static_cast<std::uint16_t*>(p), vreinterpret_u16_f16(vcvt_f16_f32(v)));
}
/// 16 bits each, to and from the low half of an integer
inline Integers load_halves(const void* p)
{
    return vmovl_u16(vld1_u16(static_cast<const std::uint16_t*>(p)));
}
inline void store_halves(void* p, Integers v)
{
    vst1_u16(static_cast<std::uint16_t*>(p), vmovn_u32(v));
}

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::core
