#include "attn/text/pieces/added_tokens.hpp"

#include "attn/text/pieces/characters.hpp"

#include <algorithm>
#include <unordered_set>

namespace attn::text {
namespace {

/// The place of the character that ends before `end`, which is not 0.
std::uint32_t character_before(std::string_view text, std::uint32_t end)
{
    std::uint32_t begin = end - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) {
        --begin;
    }
    return begin;
}

bool word_before(std::string_view text, std::uint32_t end)
{
    return end > 0 && is_word_character(front(text.substr(character_before(text, end))).value);
}

bool word_behind(std::string_view text, std::uint32_t begin)
{
    return begin < text.size() && is_word_character(front(text.substr(begin)).value);
}

/// `span` with the white space on its sides, from `least` on.
Span widened(std::string_view text, Span span, const AddedToken& token, std::uint32_t least)
{
    while (token.lstrip && span.begin > least) {
        const std::uint32_t before = character_before(text, span.begin);
        if (!is_white_space(front(text.substr(before)).value)) {
            break;
        }
        span.begin = before;
    }
    while (token.rstrip && span.end < text.size()) {
        const CodePoint point = front(text.substr(span.end));
        if (!is_white_space(point.value)) {
            break;
        }
        span.end += static_cast<std::uint32_t>(point.bytes);
    }
    return span;
}

PieceList listed(const std::vector<AddedTokens::Wanted>& wanted)
{
    PieceList list;
    std::unordered_set<std::string_view> seen;
    for (const AddedTokens::Wanted& each : wanted) {
        if (!each.text.empty() && seen.insert(each.text).second) {
            list.add(each.text, static_cast<std::int32_t>(each.token));
        }
    }
    return list;
}

} // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const std::vector<Wanted>& wanted)
    : tokens_(std::move(tokens)), index_(listed(wanted), true, "added_tokens")
{
}

std::optional<AddedTokens::Found> AddedTokens::next(std::string_view text, std::uint32_t from, Budget& budget) const
{
    for (std::uint32_t begin = from; begin < text.size(); ++begin) {
        std::optional<Found> longest;
        index_.each_beginning({}, text.substr(begin), budget, [&](std::size_t size, std::uint32_t entry) {
            longest = Found{{begin, begin + static_cast<std::uint32_t>(size)},
                            static_cast<std::uint32_t>(index_.pieces().entries[entry].id)};
        });
        if (longest) {
            return longest;
        }
    }
    return std::nullopt;
}

std::vector<Section> AddedTokens::sections(std::string_view text, Budget& budget) const
{
    const auto size = static_cast<std::uint32_t>(text.size());
    std::vector<Section> found;
    std::uint32_t behind = 0; // the last section
    std::uint32_t from = 0;   // where to look next
    while (!index_.pieces().entries.empty()) {
        const std::optional<Found> token = next(text, from, budget);
        if (!token) {
            break;
        }
        const AddedToken& is = tokens_[token->token];
        from = token->span.end;
        if ((is.single_word && (word_before(text, token->span.begin) || word_behind(text, token->span.end))) ||
            token->span.begin < behind) {
            continue;
        }
        const Span span = widened(text, token->span, is, behind);
        if (span.begin > behind) {
            found.push_back({{behind, span.begin}});
        }
        found.push_back({span, token->token});
        behind = span.end;
    }
    if (behind < size) {
        found.push_back({{behind, size}});
    }
    return found;
}

} // namespace attn::text
