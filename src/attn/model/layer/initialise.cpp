#include "attn/model/layer/initialise.hpp"

#include "attn/tensor/error.hpp"

#include <limits>

namespace attn::model {

random::Stream start_stream(Generator generator, std::uint64_t seed, const std::string& place)
{
    switch (generator) {
    case Generator::torch: return random::TorchStream(seed);
    case Generator::numpy:
        if (seed > std::numeric_limits<std::uint32_t>::max()) {
            throw Error(ErrorKind::data, place + ": seed", std::to_string(seed), "0 to 4294967295 for the generator numpy");
        }
        return random::NumpyStream(static_cast<std::uint32_t>(seed));
    case Generator::numpy_pcg64: return random::Pcg64Stream(seed);
    }
    throw Error(ErrorKind::internal, "generator", std::to_string(static_cast<int>(generator)), "torch, numpy, numpy-pcg64");
}

std::vector<double> draw_numbers(random::Stream& stream, const Draw& draw, Index count, bool bias,
                                 const std::function<Fans(FansOf)>& fans)
{
    const auto within = [&](double bound) { return random::uniform(stream, count, -bound, bound); };
    switch (draw.init) {
    case Initialisation::integers:
        return random::integers(stream, count, static_cast<std::int64_t>(draw.first), static_cast<std::int64_t>(draw.second));
    case Initialisation::uniform: return random::uniform(stream, count, draw.first, draw.second);
    case Initialisation::normal: return random::normal(stream, count, draw.first, draw.second);
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
        return random::normal(stream, count, 0, random::xavier_deviation(of.in, of.out, draw.second));
    }
    case Initialisation::kaiming_uniform:
    case Initialisation::kaiming_normal: {
        const Fans of = fans(FansOf::tensor);
        const Index fan = draw.mode == FanMode::in ? of.in : of.out;
        return draw.init == Initialisation::kaiming_uniform
                   ? within(random::kaiming_bound(fan, draw.first))
                   : random::normal(stream, count, 0, random::kaiming_deviation(fan, draw.first));
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

} // namespace attn::model
