// What a .gguf says of a model, in the words that the program already has: the values of a config.json, and tensors by the
// names that model hubs give them.
#pragma once

#include "attn/io/models/gguf.hpp"
#include "attn/transformer/architecture.hpp"
#include "attn/transformer/config.hpp"
#include "attn/transformer/run/model.hpp"

namespace attn::io {

/// By the keys that transformer::describe() asks for; a key that it does not ask for keeps its own. Throws Error(data) for an
/// architecture that is not known, and for a file that is one of several.
[[nodiscard]] transformer::ConfigValues gguf_config(const GgufFile& file);

/// What the file calls these keys.
[[nodiscard]] transformer::ConfigNames gguf_key_names(const GgufFile& file);

/// What a .gguf stores otherwise than model hubs: weights (out, in) alone; of Llama the rows of queries and keys in the order
/// of neighbouring pairs; of GPT-NeoX all queries, then all keys, then all values; of Gemma the weights of norms with their 1;
/// the scaling of rotary positions as numbers.
void settle_for_gguf(transformer::Architecture& architecture, const GgufFile& file);

/// By the names of the architecture. Throws Error(data).
[[nodiscard]] transformer::Weights gguf_weights(const GgufFile& file);

} // namespace attn::io
