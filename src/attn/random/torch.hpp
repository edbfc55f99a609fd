// PyTorch's random stream on a CPU.
//
//   torch.manual_seed(123); torch.rand(3)     0.2961 0.5166 0.2517
//   torch.manual_seed(0);   torch.randn(5)    1.5410 -0.2934 -2.1788 0.5684 -1.0845
//   torch.manual_seed(0);   torch.randint(0, 10, (5,))    4 9 3 0 3
#pragma once

#include "attn/random/mersenne.hpp"
#include "attn/tensor/shape.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace attn::random {

/// torch.manual_seed(seed), then torch.rand / torch.randn / Tensor.uniform_ / normal_ in float32 and torch.randint in int64,
/// bit for bit as the x86-64 builds of PyTorch compute them on a processor with AVX2 and FMA.
/// Sources: ATen/core/MT19937RNGEngine.h, TransformationHelper.h, DistributionsHelper.h, native/cpu/DistributionTemplates.h
/// (PyTorch 1.13).
class TorchStream {
public:
    /// Only the low 32 bits of the seed count.
    explicit TorchStream(std::uint64_t seed);

    /// `count` draws of Tensor.uniform_(low, high); torch.rand is (0, 1).
    [[nodiscard]] std::vector<double> uniform(Index count, double low, double high);
    /// `count` draws of Tensor.normal_(mean, deviation); torch.randn is (0, 1). From 16 elements on PyTorch fills in blocks of
    /// 16, and fewer come one by one with a cached partner that survives into the next tensor.
    [[nodiscard]] std::vector<double> normal(Index count, double mean, double deviation);
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
