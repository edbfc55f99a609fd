// What the tokenizers of SentencePiece have in common, in a file of their own or inside a .gguf: pieces, each with a score and
// a type, and tokens around a text.
#pragma once

#include "attn/text/pieces/tokenizer_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

/// By the numbers that both files have.
enum class PieceType {
    normal = 1,
    unknown,      ///< stands for all that no piece is made of
    control,      ///< put around a text: <s>
    user_defined, ///< stands for itself wherever a text holds it
    unused,
    byte, ///< <0xE2>
};

struct ScoredPiece {
    std::string_view text;
    PieceType type = PieceType::normal;
    double score = 0;
};

/// Behind the others; a piece's id is its place. Throws Error(data) for text that is not UTF-8, and for more than 2048 bytes,
/// which a tokenizer.json may not have either. `list` is for messages.
void add_piece(std::vector<ScoredPiece>& pieces, const ScoredPiece& piece, std::string_view list);

/// "list[3]"
[[nodiscard]] std::string place_in(std::string_view list, std::size_t i);

/// SentencePiece's pair encoding: of all pairs of neighbours that make a normal piece, the one of the highest score is joined,
/// the leftmost of several. Throws Error(data) where pieces are made of each other in too many ways.
[[nodiscard]] text::BytePairModel scored_pairs(const std::vector<ScoredPiece>& pieces);

/// `begin` and `end`, where there are some, around each sentence.
void put_around(text::TokenizerSpec& spec, std::optional<std::int32_t> begin, std::optional<std::int32_t> end);

} // namespace attn::io
