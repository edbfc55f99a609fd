#include "attn/model/layer/initialise.hpp"

#include "attn/tensor/error.hpp"

#include <limits>

namespace attn::model {

void require_seed(Generator generator, std::uint64_t seed, const std::string& place)
{
    if (generator == Generator::numpy && seed > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorKind::data, place + ": seed", std::to_string(seed), "0 to 4294967295 for the generator numpy");
    }
}

random::Stream start_stream(Generator generator, std::uint64_t seed)
{
    switch (generator) {
    case Generator::torch: return random::TorchStream(seed);
    case Generator::numpy: return random::NumpyStream(static_cast<std::uint32_t>(seed));
    case Generator::numpy_pcg64: return random::Pcg64Stream(seed);
    }
    throw Error(ErrorKind::internal, "generator", std::to_string(static_cast<int>(generator)), "torch, numpy, numpy-pcg64");
}

Distribution distribution_of(const Draw& draw, bool bias, const std::function<Fans(FansOf)>& fans)
{
    using enum Distribution::Kind;
    const auto within = [](double bound) { return Distribution{uniform, -bound, bound}; };
    switch (draw.init) {
    case Initialisation::integers: return {integers, draw.first, draw.second};
    case Initialisation::uniform: return {uniform, draw.first, draw.second};
    case Initialisation::normal: return {normal, draw.first, draw.second};
    case Initialisation::linear: {
        const Index in = fans(FansOf::layer).in;
        return within(bias ? random::linear_bias_bound(in) : random::linear_weight_bound(in));
    }
    case Initialisation::xavier: {
        const Fans of = fans(bias ? FansOf::layer : FansOf::tensor);
        return within(random::xavier_bound(of.in, of.out, draw.second));
    }
    case Initialisation::xavier_normal: {
        const Fans of = fans(FansOf::tensor);
        return {normal, 0, random::xavier_deviation(of.in, of.out, draw.second)};
    }
    case Initialisation::kaiming_uniform:
    case Initialisation::kaiming_normal: {
        const Fans of = fans(FansOf::tensor);
        const Index fan = draw.mode == FanMode::in ? of.in : of.out;
        return draw.init == Initialisation::kaiming_uniform
                   ? within(random::kaiming_bound(fan, draw.first))
                   : Distribution{normal, 0, random::kaiming_deviation(fan, draw.first)};
    }
    case Initialisation::multihead_attention: {
        const Fans of = fans(FansOf::joint);
        return within(random::xavier_bound(of.in, of.out));
    }
    case Initialisation::zeros:
    case Initialisation::identity: break;
    }
    throw Error(ErrorKind::internal, "initialisation", std::to_string(static_cast<int>(draw.init)), "one that draws");
}

std::vector<double> draw_numbers(random::Stream& stream, const Distribution& distribution, Index count)
{
    const auto& [kind, first, second] = distribution;
    switch (kind) {
    case Distribution::Kind::integers:
        return random::integers(stream, count, static_cast<std::int64_t>(first), static_cast<std::int64_t>(second));
    case Distribution::Kind::uniform: return random::uniform(stream, count, first, second);
    case Distribution::Kind::normal: return random::normal(stream, count, first, second);
    }
    throw Error(ErrorKind::internal, "distribution", std::to_string(static_cast<int>(kind)), "integers, uniform, normal");
}

} // namespace attn::model
