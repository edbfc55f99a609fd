// A stream of any kind, and the bounds of PyTorch's initialisers.
//
// One class a generator, all with the same calls. A stream is a value: copying it copies its place. Draws come as
// doubles, which hold PyTorch's float32 draws exactly.
#pragma once

#include "attn/random/numpy.hpp"
#include "attn/random/torch.hpp"

#include <variant>

namespace attn::random {

using Stream = std::variant<TorchStream, NumpyStream, Pcg64Stream>;

[[nodiscard]] std::vector<double> uniform(Stream& stream, Index count, double low = 0, double high = 1);
[[nodiscard]] std::vector<double> normal(Stream& stream, Index count, double mean = 0, double deviation = 1);
/// Those of a tensor of float64, which PyTorch draws from more words; NumPy draws all so.
[[nodiscard]] std::vector<double> normal_of_float64(Stream& stream, Index count, double mean = 0, double deviation = 1);
/// Whole numbers from low to high - 1. low < high, and neither is further from 0 than 2^53, up to where a double holds them
/// all.
[[nodiscard]] std::vector<double> integers(Stream& stream, Index count, std::int64_t low, std::int64_t high);

/// ±bound of nn.Linear(fan_in, …)'s default weight (kaiming_uniform with a = √5), in double as PyTorch computes it.
[[nodiscard]] double linear_weight_bound(Index fan_in);
/// ±bound of nn.Linear's default bias, 1/√fan_in.
[[nodiscard]] double linear_bias_bound(Index fan_in);
/// Standard deviation of nn.init.xavier_normal_, gain·√(2/(fan_in + fan_out)), and ±bound of xavier_uniform_, √3 times that.
[[nodiscard]] double xavier_deviation(Index fan_in, Index fan_out, double gain = 1);
[[nodiscard]] double xavier_bound(Index fan_in, Index fan_out, double gain = 1);
/// Standard deviation of nn.init.kaiming_normal_ for leaky_relu, √(2/(1 + a²))/√fan, and ±bound of kaiming_uniform_, √3 times
/// that.
[[nodiscard]] double kaiming_deviation(Index fan, double a = 0);
[[nodiscard]] double kaiming_bound(Index fan, double a = 0);

} // namespace attn::random
