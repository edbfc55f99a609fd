// A file of numbers held against what a whole trained model gives, such as the attentions that another program saved.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "attn/model/run/result.hpp"

namespace attn::model::diagnose {

/// Throws Error(data) for a file, called `what`, that does not have an array of this shape, `one`, of each of the layers, one
/// after the other. Dimensions of length 1 do not count: of one layer it may be (H, T, S) or (1, H, T, S), of several
/// (L, H, T, S) or (L, 1, H, T, S).
void require_layers(const ComparedTensor& file, const std::string& what, Item item, const Shape& one,
                    const std::vector<LayerPlace>& layers);

/// Against an array of each layer that the result has, all of one shape. Names no mistake. Throws as require_layers().
[[nodiscard]] Against against_layers(const Result& result, Item item, const ComparedTensor& file, const std::string& what,
                                     const Criterion& criterion);

} // namespace attn::model::diagnose
