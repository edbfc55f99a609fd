// The random streams of PyTorch and NumPy, reproduced bit for bit.
//
// One class a generator, all with the same three calls. A stream is a value: copying it copies its place.
// Draws come as doubles, which hold PyTorch's float32 draws exactly.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <variant>
#include <vector>

namespace attn::random {

/// PyTorch on a CPU: torch.manual_seed(seed), then torch.rand / torch.randn / Tensor.uniform_ / normal_ in float32.
/// Sources: ATen/core/MT19937RNGEngine.h, TransformationHelper.h, native/cpu/DistributionTemplates.h (PyTorch 1.13).
class TorchStream {
public:
    /// Only the low 32 bits of the seed count.
    explicit TorchStream(std::uint64_t seed);

    /// `count` draws of Tensor.uniform_(low, high); torch.rand is (0, 1).
    [[nodiscard]] std::vector<double> uniform(Index count, double low, double high);
    /// `count` draws of Tensor.normal_(mean, deviation); torch.randn is (0, 1). From 16 elements on PyTorch fills in blocks of
    /// 16, and fewer come one by one with a cached partner that survives into the next tensor.
    [[nodiscard]] std::vector<double> normal(Index count, double mean, double deviation);

private:
    std::mt19937 engine_;
    std::optional<double> cached_normal_;
};

/// NumPy's legacy stream: np.random.seed(seed), then np.random.rand / randn / uniform / normal in float64.
class NumpyStream {
public:
    explicit NumpyStream(std::uint32_t seed);
    [[nodiscard]] std::vector<double> uniform(Index count, double low, double high);
    [[nodiscard]] std::vector<double> normal(Index count, double mean, double deviation);

private:
    std::mt19937 engine_;
    std::optional<double> cached_normal_;
};

/// NumPy's default_rng(seed): PCG64 XSL-RR seeded by SeedSequence; random / uniform / standard_normal (ziggurat) in float64.
class Pcg64Stream {
public:
    explicit Pcg64Stream(std::uint64_t seed);
    [[nodiscard]] std::vector<double> uniform(Index count, double low, double high);
    [[nodiscard]] std::vector<double> normal(Index count, double mean, double deviation);

private:
    __extension__ using Word128 = unsigned __int128;
    [[nodiscard]] std::uint64_t next();
    Word128 state_ = 0;
    Word128 increment_ = 0;
};

using Stream = std::variant<TorchStream, NumpyStream, Pcg64Stream>;

[[nodiscard]] std::vector<double> uniform(Stream& stream, Index count, double low = 0, double high = 1);
[[nodiscard]] std::vector<double> normal(Stream& stream, Index count, double mean = 0, double deviation = 1);

/// ±bound of nn.Linear(fan_in, …)'s default weight (kaiming_uniform with a = √5), in double as PyTorch computes it.
[[nodiscard]] double linear_weight_bound(Index fan_in);
/// ±bound of nn.Linear's default bias, 1/√fan_in.
[[nodiscard]] double linear_bias_bound(Index fan_in);
/// ±bound of nn.init.xavier_uniform_, √(6/(fan_in + fan_out)) as PyTorch computes it.
[[nodiscard]] double xavier_bound(Index fan_in, Index fan_out);

} // namespace attn::random
