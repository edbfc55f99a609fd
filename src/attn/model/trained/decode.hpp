// What a decoder itself writes, token by token.
#pragma once

#include "attn/model/trained/resolved_trained.hpp"

namespace attn::model {

/// ids (S) → (S, D): what the encoder of the model gives to its decoder. Throws Error(data) for ids that the encoder has no row
/// for, and for damaged weights.
[[nodiscard]] Matrix<float> encoded(const transformer::Model& model, const std::vector<Index>& ids, const core::Work& work);

/// The start of the target, and behind it up to `most` tokens, each the likeliest of all that may stand there; of equal ones
/// the one with the smallest id. The token that ends the target is not among them. The model has a head. Of the settings
/// threads and isa count. Throws as encoded().
[[nodiscard]] std::vector<Index> decoded(const Trained& trained, const Tokens& source, Index most, const RunSettings& settings);

} // namespace attn::model
