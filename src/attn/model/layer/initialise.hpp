// The numbers of one draw, whatever tensor they are for: what they are is known before the first of them is drawn.
#pragma once

#include "attn/model/recipe/recipe.hpp"
#include "attn/random/stream.hpp"

#include <functional>
#include <string>
#include <vector>

namespace attn::model {

/// How many numbers one output of a layer reads, and how many outputs there are: what the initialisers of layers go by.
struct Fans {
    Index in;
    Index out;
};
enum class FansOf {
    layer,  ///< the layer that the tensor belongs to
    tensor, ///< the tensor that is drawn, as nn.init counts its dimensions
    joint,  ///< the one matrix in which nn.MultiheadAttention keeps what reads the same
};

/// What a stream is asked for.
struct Distribution {
    enum class Kind { integers, uniform, normal };
    Kind kind;
    double first, second; ///< low and high, or mean and standard deviation
};

/// What draw.init says; `fans` is asked where they count. Not of zeros and identity, which draw nothing.
[[nodiscard]] Distribution distribution_of(const Draw& draw, bool bias, const std::function<Fans(FansOf)>& fans);

/// Throws Error(data) for a seed that the generator does not take; `place` names the draw.
void require_seed(Generator generator, std::uint64_t seed, const std::string& place);

/// From a seed that it takes.
[[nodiscard]] random::Stream start_stream(Generator generator, std::uint64_t seed);

[[nodiscard]] std::vector<double> draw_numbers(random::Stream& stream, const Distribution& distribution, Index count);

} // namespace attn::model
