// Four float32 in a register of 64-bit Arm: what tile_kernels_body.hpp is written in. For tiled_neon.cpp alone.
#pragma once

#include <arm_neon.h>

#include <cstdint>

namespace attn::core {
namespace {

using Vector = float32x4_t; // + - * / of each element are the compiler's own
using Integers = int32x4_t;

constexpr int lanes = 4;
constexpr int query_vectors = 12; ///< of a tile of 48 queries
constexpr int key_tile = 64;
constexpr int most_query_vectors = 4;   ///< scores: 4 keys by 4 vectors of queries, 16 of the 32 registers
constexpr int most_feature_vectors = 4; ///< context: 4 queries by up to 4 vectors of features

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

/// a0 b0 a1 b1 of the first and of the second halves.
inline Vector zip_low(Vector a, Vector b)
{
    return vzip1q_f32(a, b);
}
inline Vector zip_high(Vector a, Vector b)
{
    return vzip2q_f32(a, b);
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
    return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(static_cast<const std::uint16_t*>(p))));
}
inline void store_halves(void* p, Integers v)
{
    vst1_u16(static_cast<std::uint16_t*>(p), vmovn_u32(vreinterpretq_u32_s32(v)));
}

} // namespace
} // namespace attn::core
