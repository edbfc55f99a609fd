// A file of numbers held against what a whole trained model gives, such as the attentions that another program saved.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "attn/model/run/result.hpp"

namespace attn::model::diagnose {

/// Against an array of each layer that the result has, all of one shape, as the file has them one after the other. Dimensions
/// of length 1 do not count: (H, T, S) or (1, H, T, S) of one layer, (L, H, T, S) or (L, 1, H, T, S) of several. Names no
/// mistake. Throws Error(data), with `what` for the file's name, for another shape.
[[nodiscard]] Against against_layers(const Result& result, Item item, const ComparedTensor& file, const std::string& what,
                                     const Criterion& criterion);

} // namespace attn::model::diagnose
