#include "attn/transformer/layers/positions.hpp"

#include "attn/core/positions.hpp"
#include "attn/math/elementary.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numbers>

namespace attn::transformer {

// ---- sinusoidal positions --------------------------------------------------------------------------------------------------

RowVector<float> sinusoid(Index position, Index D)
{
    const std::vector<double> list = frequencies({.base = 10000, .dim = D});
    const auto sines = static_cast<Index>(list.size()); // one more than cosines, of an odd D
    RowVector<float> x(D);
    for (Index n = 0; n < D; ++n) {
        const bool is_sine = n < sines;
        const double frequency = list[static_cast<std::size_t>(is_sine ? n : n - sines)];
        const auto [sine, cosine] = math::sincos(static_cast<double>(position) * frequency);
        x[n] = static_cast<float>(is_sine ? sine : cosine);
    }
    return x;
}

// ---- rotary positions ------------------------------------------------------------------------------------------------------

namespace {

/// Of pair n.
double scaled(double frequency, const RopePart& rope, Index n)
{
    switch (rope.scaling) {
    case RopeScaling::none: break;
    case RopeScaling::linear: return frequency / rope.factor;
    case RopeScaling::llama3: {
        const double turns = rope.original * frequency / (2 * std::numbers::pi); // of the original context
        const double kept = std::clamp((turns - rope.low) / (rope.high - rope.low), 0.0, 1.0);
        return (1 - kept) * frequency / rope.factor + kept * frequency;
    }
    case RopeScaling::listed: return frequency / static_cast<double>(rope.divisors.at(static_cast<std::size_t>(n)));
    }
    return frequency;
}

} // namespace

std::vector<double> frequencies(const RopePart& rope)
{
    const double log_base = math::log(rope.base);
    std::vector<double> list;
    for (Index n = 0; n < (rope.dim + 1) / 2; ++n) {
        const double power = static_cast<double>(2 * n) / static_cast<double>(rope.dim);
        list.push_back(scaled(math::exp(-log_base * power), rope, n));
    }
    return list;
}

Rotation rotation(const RopePart& rope, Index T, Index first)
{
    if (T > core::most_positions) {
        throw Error(ErrorKind::internal, "rotary positions", fmt::format("{} tokens", T),
                    fmt::format("up to {}", core::most_positions));
    }
    const std::vector<double> list = frequencies(rope);
    const auto pairs = static_cast<Index>(list.size());
    Rotation by{Matrix<double>(T - first, pairs), Matrix<double>(T - first, pairs)};
    for (Index p = 0; p < T - first; ++p) {
        for (Index n = 0; n < pairs; ++n) {
            const auto [sine, cosine] = math::sincos(static_cast<double>(first + p) * list[static_cast<std::size_t>(n)]);
            by.cosine(p, n) = cosine;
            by.sine(p, n) = sine;
        }
    }
    return by;
}

void rotate(Matrix<float>& X, Index d, const Rotation& by)
{
    const Index pairs = by.cosine.cols();
    for (Index p = 0; p < X.rows(); ++p) {
        for (Index head = 0; head < X.cols(); head += d) {
            for (Index n = 0; n < pairs; ++n) {
                const auto a = static_cast<double>(X(p, head + n));
                const auto b = static_cast<double>(X(p, head + n + pairs));
                X(p, head + n) = static_cast<float>(a * by.cosine(p, n) - b * by.sine(p, n));
                X(p, head + n + pairs) = static_cast<float>(a * by.sine(p, n) + b * by.cosine(p, n));
            }
        }
    }
}

// ---- a bias by distance ----------------------------------------------------------------------------------------------------

Index bucket_of(Index distance, const RelativeBiasPart& part)
{
    const Index buckets = part.causal ? part.buckets : part.buckets / 2;
    const Index exact = buckets / 2;
    const Index first = distance > 0 && !part.causal ? buckets : 0;
    const Index size = part.causal ? std::max<Index>(-distance, 0) : std::abs(distance);
    if (size < exact) {
        return first + size;
    }
    const auto log_of = [](Index above, Index below) {
        return math::log(static_cast<double>(above) / static_cast<double>(below));
    };
    const double share = log_of(size, exact) / log_of(part.most_distance, exact);
    const Index grown = exact + static_cast<Index>(share * static_cast<double>(buckets - exact));
    return first + std::min(grown, buckets - 1);
}

Tensor<float> relative_bias(const RelativeBiasPart& part, const Matrix<float>& table, Index T, Index first)
{
    Tensor<float> bias({table.cols(), T - first, T});
    for (Index h = 0; h < table.cols(); ++h) {
        for (Index i = first; i < T; ++i) {
            for (Index j = 0; j < T; ++j) {
                bias.matrix(h)(i - first, j) = table(bucket_of(j - i, part), h);
            }
        }
    }
    return bias;
}

} // namespace attn::transformer
