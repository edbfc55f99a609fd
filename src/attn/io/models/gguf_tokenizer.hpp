// The tokenizer inside a .gguf, as the steps that a tokenizer.json would have.
//
// tokenizer.ggml.model says which one it is: "gpt2", byte-pair encoding over bytes, with its merges and the name of its pattern
// in tokenizer.ggml.pre; "llama", SentencePiece's pair encoding, where of all pairs that make a piece the one of the highest
// score is joined; "bert", WordPiece, whose words begin with ▁ here and whose other pieces have no ## in front.
#pragma once

#include "attn/io/models/gguf.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

namespace attn::io {

/// Throws Error(data) for another tokenizer or pattern, for lists that do not go together, and for text that is not UTF-8.
[[nodiscard]] text::TokenizerSpec gguf_tokenizer(const GgufFile& file);

} // namespace attn::io
