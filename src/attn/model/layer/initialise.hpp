// The numbers of one draw, whatever tensor they are for.
#pragma once

#include "attn/model/recipe/recipe.hpp"
#include "attn/random/stream.hpp"

#include <functional>
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

/// `place` names the draw in messages. Throws Error(data) for a seed that the generator does not take.
[[nodiscard]] random::Stream start_stream(Generator generator, std::uint64_t seed, const std::string& place);

/// `count` numbers, as draw.init says; `fans` is asked where they count. Not for zeros and identity, which draw nothing.
[[nodiscard]] std::vector<double> draw_numbers(random::Stream& stream, const Draw& draw, Index count, bool bias,
                                               const std::function<Fans(FansOf)>& fans);

} // namespace attn::model
