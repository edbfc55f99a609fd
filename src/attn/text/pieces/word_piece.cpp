#include "attn/text/pieces/models.hpp"

#include "attn/tensor/error.hpp"

#include <algorithm>

namespace attn::text {
namespace {

Index characters(std::string_view word)
{
    return std::count_if(word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

Span whole(std::string_view word)
{
    return {0, static_cast<std::uint32_t>(word.size())};
}

} // namespace

std::uint32_t require_piece(const PieceIndex& vocabulary, std::string_view piece, std::string_view what)
{
    const std::optional<std::uint32_t> entry = vocabulary.find(piece);
    if (!entry) {
        throw Error(ErrorKind::data, what, in_quotes(piece), "a piece of the vocabulary");
    }
    return *entry;
}

WordPiece::WordPiece(const PieceIndex& vocabulary, WordPieceModel model)
    : model_(std::move(model)), unknown_(require_piece(vocabulary, model_.unknown, "model.unk_token"))
{
}

std::vector<Token> WordPiece::tokens(const PieceIndex& vocabulary, std::string_view word, Budget& budget) const
{
    if (characters(word) > model_.longest_word) {
        return {{unknown_, whole(word)}};
    }
    std::vector<Token> found;
    for (std::uint32_t begin = 0; begin < word.size();) {
        std::optional<Token> longest;
        const std::string_view before = begin == 0 ? std::string_view() : std::string_view(model_.prefix);
        vocabulary.each_beginning(before, word.substr(begin), budget, [&](std::size_t size, std::uint32_t entry) {
            longest = Token{entry, {begin, begin + static_cast<std::uint32_t>(size)}};
        });
        if (!longest) {
            return {{unknown_, whole(word)}};
        }
        found.push_back(*longest);
        begin = longest->span.end;
    }
    return found;
}

WordLevel::WordLevel(const PieceIndex& vocabulary, const WordLevelModel& model)
    : unknown_(require_piece(vocabulary, model.unknown, "model.unk_token"))
{
}

std::vector<Token> WordLevel::tokens(const PieceIndex& vocabulary, std::string_view word, Budget& /*budget*/) const
{
    return {{vocabulary.find(word).value_or(unknown_), whole(word)}};
}

} // namespace attn::text
