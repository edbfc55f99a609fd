// The arithmetic of one query word in heads of a whole trained model.
//
// A layer begins with what the model has made so far: x of a word is what its projections read, behind the norm in front of the
// attention where the architecture has one. From there on it goes as explanation.hpp writes, with what a model may have more: a
// norm of queries and keys, and a number that it adds to a score for the distance of both words.
#pragma once

#include "attn/model/explain/explanation.hpp"
#include "attn/model/trained/run_trained.hpp"

namespace attn::model {

/// Of each layer and head that the config names, layer by layer; without any the first. The config's query says which word,
/// without one the first; position, layer and head of the question do not count. Throws as run_trained and explain, and for a
/// query that is at several positions.
[[nodiscard]] std::vector<Explanation> explain_trained(TrainedConfig config, const Trained& trained, Question question,
                                                       const RunSettings& settings);

} // namespace attn::model
