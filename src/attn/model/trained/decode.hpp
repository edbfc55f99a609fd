// What a decoder itself writes, token by token.
#pragma once

#include "attn/model/trained/tokens.hpp"

namespace attn::model {

/// The start of the target, and behind it up to `most` tokens, each the likeliest of all that may stand there; of equal ones
/// the one with the smallest id. The token that ends the target is not among them. The model has a head. Of the settings
/// threads and isa count. Throws Error(data) for ids that the encoder has no row
/// for, and for damaged weights.
[[nodiscard]] std::vector<Index> decoded(const Trained& trained, const Tokens& source, Index most, const RunSettings& settings);

} // namespace attn::model
