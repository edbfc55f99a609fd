// Sentences become pieces, as a trained model's tokenizer.json or its model of SentencePiece says: WordPiece, byte-pair
// encoding, Unigram.
//
// Follows the package `tokenizers` (0.23.3), which tests/oracle/live_tokenizers.py compares with: the same ids, pieces and
// bounds; and `sentencepiece` (0.2.3), live_sentencepiece.py: the same ids and pieces. Unicode is that of utf8proc and PCRE2,
// so characters newer than theirs may be classed otherwise.
#pragma once

#include "attn/text/pieces/tokenizer_spec.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::text {

struct Piece {
    Index id = 0;
    std::string text;      ///< as the vocabulary has it; of what a Unigram model does not know, the sentence's own
    std::size_t begin = 0; ///< bytes of its sentence that it stands for: whole characters,
    std::size_t end = 0;   ///< even where it is a part of one; equal where it stands for none
    Index type = 0;        ///< token type id
    int sentence = 0;      ///< 0, 1; -1: the template's
    bool special = false;  ///< of the template, or an added token that the file calls special
    bool found = false;    ///< an added token that the sentence has, with the spaces that it takes

    [[nodiscard]] bool operator==(const Piece&) const = default;
};

class PieceTokenizer {
public:
    /// Throws Error(data) for what does not fit together: a piece or an id given twice, a merge or a special token that the
    /// vocabulary does not have, an expression or a map that cannot be run.
    explicit PieceTokenizer(TokenizerSpec spec);
    ~PieceTokenizer();
    PieceTokenizer(PieceTokenizer&&) noexcept;
    PieceTokenizer& operator=(PieceTokenizer&&) noexcept;
    PieceTokenizer(const PieceTokenizer&) = delete;
    PieceTokenizer& operator=(const PieceTokenizer&) = delete;

    /// The pieces of one sentence or of two, in their template. `pair` may be empty text. Throws Error(data) for what is no
    /// UTF-8, holds a NUL, or makes an expression of the file try too long; Error(too_large) for 4 GiB.
    [[nodiscard]] std::vector<Piece> encode(std::string_view sentence, std::optional<std::string_view> pair = {}) const;

    /// The highest id and one more: how many rows an embedding table has at least.
    [[nodiscard]] Index size() const;
    /// Whether the id has a piece.
    [[nodiscard]] bool has(Index id) const;
    [[nodiscard]] std::optional<Index> id_of(std::string_view piece) const;
    /// Throws Error(data) for an id without a piece.
    [[nodiscard]] std::string_view text_of(Index id) const;
    /// For people: byte-level pieces as their bytes ("Ġthe" is " the"), with \xE4 for bytes that are no whole character;
    /// SentencePiece's ▁ as a space; ## stays. Throws Error(data) for an id without a piece.
    [[nodiscard]] std::string shown(Index id) const;

private:
    struct Parts;
    std::unique_ptr<const Parts> parts_;
};

} // namespace attn::text
