// Which weights of a result are 0 because of a mask, to be told from those that are too small for their type.
#pragma once

#include "attn/model/run/result.hpp"

#include <vector>

namespace attn::model {

/// As far as the layer tells: by its masked scores where it has them, otherwise by causal and window of its config.
struct MaskedPlaces {
    std::vector<bool> masked; ///< (H, T, S) as the weights; empty where none is
    bool certain = true;      ///< false: there may be more of them, by a mask that the result does not hold
};

/// Of a layer with weights. Throws Error(internal) for one without.
[[nodiscard]] MaskedPlaces masked_places(const Result& result, const Layer& layer);

} // namespace attn::model
