// Where a text holds added tokens, which stand for themselves.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/piece_index.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace attn::text {

/// A part of a text: ordinary, or one of the tokens, with the white space that it takes.
struct Section {
    Span span;
    std::optional<std::uint32_t> token = {}; ///< which one
};

class AddedTokens {
public:
    /// Of `tokens`, those whose contents are given: looked for under that text. A text given twice counts for the first, an
    /// empty one for none.
    struct Wanted {
        std::string text;
        std::uint32_t token;
    };
    AddedTokens(std::vector<AddedToken> tokens, const std::vector<Wanted>& wanted);

    /// All of `text`, cut: the leftmost token, of those that begin there the longest, and so on.
    [[nodiscard]] std::vector<Section> sections(std::string_view text, Budget& budget) const;

private:
    struct Found {
        Span span;
        std::uint32_t token;
    };
    [[nodiscard]] std::optional<Found> next(std::string_view text, std::uint32_t from, Budget& budget) const;

    std::vector<AddedToken> tokens_;
    PieceIndex index_; ///< an entry's id is a token's place
};

} // namespace attn::text
