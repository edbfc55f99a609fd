// A whole trained model out of the bytes of its files, which are called as model hubs call them.
//
// Errors of config.json, tokenizer.json and the index do not name the file, whose name they do not know.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/io/models/sentencepiece.hpp"
#include "attn/model/trained/trained.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

struct NamedBytes {
    std::string name; ///< for messages
    Bytes bytes;      ///< outlive the model
};

/// What a config.json says. `ignored`: keys that are taken as if they were not there. Throws Error(data) for what is not
/// understood.
[[nodiscard]] transformer::Architecture read_architecture(Bytes config, const std::vector<std::string>& ignored = {});

/// The target of an encoder–decoder with what a generation_config.json says of it. Throws Error(data).
[[nodiscard]] transformer::TargetPart read_generation(Bytes generation, transformer::TargetPart target);

/// What a tokenizer.json says. Throws Error(data).
[[nodiscard]] text::PieceTokenizer read_pieces(Bytes tokenizer);

/// What a model of SentencePiece says (spiece.model, tokenizer.model); what is put around a text is the caller's to say. Throws
/// Error(data).
[[nodiscard]] text::PieceTokenizer read_sentencepiece(Bytes model, const TextEnds& ends);
/// What stands around a text by a tokenizer_config.json, or where that is empty by the model_type alone. Throws Error(data).
[[nodiscard]] TextEnds read_text_ends(Bytes tokenizer_config, std::string_view model_type);

/// One side of a translation by Marian: source.spm or target.spm, whose pieces have the ids of vocab.json. Throws Error(data).
[[nodiscard]] text::PieceTokenizer read_marian_pieces(Bytes model, Bytes vocabulary);

/// The tensors of .safetensors. Throws Error(data), naming the file.
[[nodiscard]] transformer::Weights read_weights(const std::vector<NamedBytes>& files);

/// The model of a .gguf: its config, tensors and tokenizer. Throws Error(data), not naming the file.
[[nodiscard]] model::Trained read_gguf_model(Bytes file, const std::vector<std::string>& ignored = {});

/// The names of the files that a model.safetensors.index.json lists, in alphabetical order. Which of them has which tensor the
/// files say themselves: one that the index leaves out counts as the others do. Throws Error(data).
[[nodiscard]] std::vector<std::string> listed_files(Bytes index);

} // namespace attn::io
