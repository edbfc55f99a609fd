// SentencePiece's own files (spiece.model, tokenizer.model, source.spm): a ModelProto of sentencepiece_model.proto
// (google/sentencepiece) in protobuf's wire format.
//
//   ModelProto      1 pieces, one field each   2 trainer_spec   3 normalizer_spec
//   piece           1 text   2 score (float32)   3 type (PieceType; normal where it is missing)
//   trainer_spec    3 model_type (1 unigram, 2 bpe, 3 word, 4 char)   24 treat_whitespace_as_suffix   35 byte_fallback
//   normalizer_spec 2 precompiled_charsmap   3 add_dummy_prefix   4 remove_extra_whitespaces   5 escape_whitespaces
//
// The other fields say how it was trained, how ids become text again, or what to put around a text, and are not read: what a
// model puts there is its class's to say.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"
#include "attn/transformer/config.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace attn::io {

/// The ids and pieces that the package sentencepiece gives, nothing around them: user-defined pieces are found before all
/// others, and text that looks like a control piece or a byte is ordinary text. Throws Error(data): what is no such file, a
/// model of words, unused pieces of a pair encoding, a piece without text or with a score beyond 1e28, not one piece for
/// the unknown.
[[nodiscard]] text::TokenizerSpec sentencepiece_tokenizer(Bytes file);

/// Pieces around a text.
struct TextEnds {
    std::optional<std::string> begin = {}, end = {};
};

/// What the tokenizer's class in the Python package transformers puts around a text. `settings` are those of
/// tokenizer_config.json; where it names no class, the one of the model_type. Throws Error(data) for a class whose ids are not
/// SentencePiece's, or that is not known.
[[nodiscard]] TextEnds text_ends(transformer::ConfigValues settings, std::string_view model_type);

/// Throws Error(data) for a piece that the vocabulary does not have.
void put_around(text::TokenizerSpec& spec, const TextEnds& ends);

/// A tokenizer whose ids are those of Marian's vocab.json, which it looks its pieces up in: </s> behind a sentence or a pair,
/// and a language such as >>fra<< stands for itself. Throws Error(data) for a vocabulary without </s>.
[[nodiscard]] text::TokenizerSpec marian_tokenizer(Bytes file, text::PieceList vocabulary);

} // namespace attn::io
