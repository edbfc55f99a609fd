// What every target expects of a tokenizer.
#pragma once

#include "attn/text/pieces/pieces.hpp"
#include "refusal.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

inline void require(bool holds)
{
    if (!holds) {
        std::abort();
    }
}

inline void encode(const attn::text::PieceTokenizer& tokenizer, std::string_view sentence, std::string_view pair)
{
    const std::array<std::string_view, 2> sentences{sentence, pair};
    for (const attn::text::Piece& piece : tokenizer.encode(sentence, pair)) {
        const std::size_t size = piece.sentence < 0 ? 0 : sentences.at(static_cast<std::size_t>(piece.sentence)).size();
        require(piece.begin <= piece.end && piece.end <= size);
        require(piece.id >= 0 && piece.id < tokenizer.size());
        (void)tokenizer.shown(piece.id);
    }
}

/// Aborts unless the TokenizerSpec that `read` gives is a tokenizer that makes pieces of sentences, whose bounds lie within
/// them, or one of these refuses with Error(data).
template <typename Read>
void must_make_pieces(Read read)
{
    must_work_or_refuse([&] {
        const attn::text::PieceTokenizer tokenizer(read());
        must_work_or_refuse([&] { encode(tokenizer, "The cat's  naïve é中🙂 12 <s>ab</s>[MASK]", "\u0130\u200bﬁ\t"); });
    });
}
