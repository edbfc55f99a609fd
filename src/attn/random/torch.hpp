// PyTorch's random stream on a CPU, and the arithmetic of its normals: 16 at a time, out of 16 uniforms.
#pragma once

#include "attn/random/mersenne.hpp"
#include "attn/tensor/shape.hpp"

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

/// Replaces 16 uniforms of [0, 1) by standard normals (Box-Muller): the first eight are radii, the last eight angles;
/// radius·cos goes to the first eight, radius·sin to the last. Bit for bit what PyTorch's AVX2 path computes (normal_fill_AVX2
/// with the single-precision Cephes functions of its AVX math header).
void to_standard_normals(std::span<float, 16> block);

// PyTorch's random stream on a CPU.
//
//   torch.manual_seed(123); torch.rand(3)     0.2961 0.5166 0.2517
//   torch.manual_seed(0);   torch.randn(5)    1.5410 -0.2934 -2.1788 0.5684 -1.0845
//   torch.manual_seed(0);   torch.randint(0, 10, (5,))    4 9 3 0 3

/// torch.manual_seed(seed), then torch.rand / torch.randn / Tensor.uniform_ / normal_ in float32, torch.randn / normal_ in
/// float64 and torch.randint in int64, bit for bit as the x86-64 builds of PyTorch compute them on a processor with AVX2 and
/// FMA. Sources: ATen/core/MT19937RNGEngine.h, TransformationHelper.h, DistributionsHelper.h,
/// native/cpu/DistributionTemplates.h (PyTorch 1.13).
class TorchStream {
public:
    /// Only the low 32 bits of the seed count.
    explicit TorchStream(std::uint64_t seed);

    /// `count` draws of Tensor.uniform_(low, high); torch.rand is (0, 1).
    [[nodiscard]] std::vector<double> uniform(Index count, double low, double high);
    /// `count` draws of Tensor.normal_(mean, deviation); torch.randn is (0, 1). From 16 elements on PyTorch fills in blocks of
    /// 16, and fewer come one by one with a cached partner that survives into the next tensor.
    [[nodiscard]] std::vector<double> normal(Index count, double mean, double deviation);
    /// The same of a tensor of float64, of which each number takes twice as many words. Of fewer than 16 elements the last bits
    /// are those of PyTorch 2; PyTorch 1 took log(1 - u) for log1p(-u).
    [[nodiscard]] std::vector<double> normal_of_float64(Index count, double mean, double deviation);
    /// `count` draws of torch.randint(low, high), low to high - 1; random::integers says which limits it takes.
    [[nodiscard]] std::vector<double> integers(Index count, std::int64_t low, std::int64_t high);
    /// `count` draws of Tensor.bernoulli_(p): 1 with probability p, otherwise 0; nn.Dropout keeps those with 1 - its p. Of a
    /// tensor of any type, where PyTorch was built without Intel MKL: Apple's and other Arm processors, Debian.
    [[nodiscard]] std::vector<std::uint8_t> bernoulli(Index count, double p);
    /// The same where it was built with MKL, as its packages for x86-64 are: one draw of this stream, of a tensor of float64
    /// two, seeds a generator of MKL.
    /// Sources: native/cpu/DistributionKernels.cpp; Intel MKL Vector Statistics Notes, MCG31m1 and Bernoulli by inversion.
    [[nodiscard]] std::vector<std::uint8_t> bernoulli_of_mkl(Index count, double p, bool of_float64);

private:
    [[nodiscard]] std::vector<float> unit_floats(Index count);
    [[nodiscard]] std::uint64_t two_words();
    [[nodiscard]] double unit_double();
    [[nodiscard]] double standard_normal();

    Mersenne engine_;
    std::optional<double> cached_normal_; ///< the second of a pair, still owed
};

} // namespace attn::random
