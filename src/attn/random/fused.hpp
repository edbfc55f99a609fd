// A float32 fused multiply-add without the instruction for it.
#pragma once

#include <bit>
#include <cstdint>

namespace attn::random {

/// a·b + c rounded once, for finite numbers, as std::fma(float, float, float), which without the instruction is a call an
/// element; this is plain double and integer operations without a branch, which a loop turns into vector instructions.
///
/// The product is exact in double. Its sum with c is rounded to odd, that is, cut towards zero with the last bit set when
/// anything was cut off; rounding that to float32 is then the same as rounding the exact sum, since a double has more than
/// two bits beyond a float (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
[[nodiscard]] [[gnu::always_inline]] inline float fused(float a, float b, float c)
{
    const double product = static_cast<double>(a) * static_cast<double>(b);
    const auto addend = static_cast<double>(c);
    const double sum = product + addend;
    // What the rounding of the sum lost, exactly (Knuth's two-sum).
    const double addend_part = sum - product;
    const double lost = (product - (sum - addend_part)) + (addend - addend_part);
    const auto sum_bits = std::bit_cast<std::uint64_t>(sum);
    const auto lost_bits = std::bit_cast<std::uint64_t>(lost);
    const std::uint64_t without_sign = lost_bits << 1;
    const std::uint64_t is_inexact = (without_sign | (0 - without_sign)) >> 63;
    const std::uint64_t is_too_far_out = ((lost_bits ^ sum_bits) >> 63) & is_inexact;
    return static_cast<float>(std::bit_cast<double>((sum_bits - is_too_far_out) | is_inexact));
}

} // namespace attn::random
