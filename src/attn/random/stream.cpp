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

std::vector<double> integers(Stream& stream, Index count, std::int64_t low, std::int64_t high)
{
    return std::visit([&](auto& s) { return s.integers(count, low, high); }, stream);
}

// torch/nn/init.py: kaiming_uniform_ takes √3·(gain/√fan) with gain = √(2/(1 + a²)), where a² of a = √5 comes out just
// above 5; xavier_uniform_ takes √3·std with std = √(2/(fan_in + fan_out)).
double linear_weight_bound(Index fan_in)
{
    const double a = std::sqrt(5.0);
    const double gain = std::sqrt(2.0 / (1.0 + a * a));
    return std::sqrt(3.0) * (gain / std::sqrt(static_cast<double>(fan_in)));
}

double linear_bias_bound(Index fan_in)
{
    return 1.0 / std::sqrt(static_cast<double>(fan_in));
}

double xavier_bound(Index fan_in, Index fan_out)
{
    return std::sqrt(3.0) * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

} // namespace attn::random
