#include "attn/random/stream.hpp"

#include <cmath>

namespace attn::random {

std::vector<double> uniform(Stream& stream, Index count, double low, double high)
{
    return std::visit([&](auto& s) { return s.uniform(count, low, high); }, stream);
}

std::vector<double> normal(Stream& stream, Index count, double mean, double deviation)
{
    return std::visit([&](auto& s) { return s.normal(count, mean, deviation); }, stream);
}

std::vector<double> normal_of_float64(Stream& stream, Index count, double mean, double deviation)
{
    if (auto* torch = std::get_if<TorchStream>(&stream)) {
        return torch->normal_of_float64(count, mean, deviation);
    }
    return normal(stream, count, mean, deviation);
}

std::vector<double> integers(Stream& stream, Index count, std::int64_t low, std::int64_t high)
{
    return std::visit([&](auto& s) { return s.integers(count, low, high); }, stream);
}

// torch/nn/init.py, in the order of its operations.
double xavier_deviation(Index fan_in, Index fan_out, double gain)
{
    return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

double xavier_bound(Index fan_in, Index fan_out, double gain)
{
    return std::sqrt(3.0) * xavier_deviation(fan_in, fan_out, gain);
}

double kaiming_deviation(Index fan, double a)
{
    const double gain = std::sqrt(2.0 / (1.0 + a * a));
    return gain / std::sqrt(static_cast<double>(fan));
}

double kaiming_bound(Index fan, double a)
{
    return std::sqrt(3.0) * kaiming_deviation(fan, a);
}

// The square of this a comes out just above 5.
double linear_weight_bound(Index fan_in)
{
    return kaiming_bound(fan_in, std::sqrt(5.0));
}

double linear_bias_bound(Index fan_in)
{
    return 1.0 / std::sqrt(static_cast<double>(fan_in));
}

} // namespace attn::random
