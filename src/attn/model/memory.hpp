// How much memory a run will take, before it takes any.
#pragma once

#include "attn/model/parameters.hpp"
#include "attn/model/result.hpp"

namespace attn::model {

/// Bytes of everything that a run holds at the same time at most, estimated from above: parameters and the draw under way,
/// embeddings, queries, keys, values, and the arrays that are kept, in both types with Recipe::verify.
/// `rows` is the number of query rows. Throws Error(too_large) when the number itself overflows.
[[nodiscard]] Index required_bytes(const Recipe& recipe, const Lengths& lengths, Index rows, const Show& show);

/// Throws Error(too_large) with the bytes needed, the bytes there are and what to do instead, when `required` exceeds `limit`.
void require_memory(Index required, Index limit);

} // namespace attn::model
