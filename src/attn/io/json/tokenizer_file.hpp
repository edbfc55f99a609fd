// tokenizer.json, the format of the package `tokenizers` (0.23), for files of some 30 MB and a quarter million pieces.
//
//   { "version": "1.0", "truncation": …, "padding": …, "added_tokens": […], "normalizer": {…}, "pre_tokenizer": {…},
//     "post_processor": {…}, "decoder": {…},
//     "model": { "type": "BPE", …, "vocab": {"piece": id, …}, "merges": ["a b" or ["a", "b"], …] } }
//
// Truncation, padding and the decoder are not read: they are settings and no part of how text becomes pieces.
#pragma once

#include "attn/text/pieces/tokenizer_spec.hpp"

#include <string_view>

namespace attn::io {

/// Throws Error(data): no JSON, a step or a model of a type that is not here, what has no meaning where it stands; naming the
/// place ("pre_tokenizer.pretokenizers[0].type"). Error(too_large): a file of 4 GiB. Whether pieces, merges and ids fit
/// together is for text::PieceTokenizer to say.
[[nodiscard]] text::TokenizerSpec read_tokenizer(std::string_view json);

/// What a vocab.json says: {"piece": id, …}. Throws as read_tokenizer().
[[nodiscard]] text::PieceList read_vocabulary(std::string_view json);

} // namespace attn::io
