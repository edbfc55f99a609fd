#include "attn/text/pieces/matcher.hpp"

#include "attn/text/pieces/characters.hpp"

namespace attn::text {
namespace {

std::vector<Span> literal_matches(std::string_view text, std::string_view literal)
{
    std::vector<Span> found;
    if (literal.empty()) {
        return found;
    }
    for (std::size_t at = text.find(literal); at != std::string_view::npos; at = text.find(literal, at + literal.size())) {
        found.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + literal.size())});
    }
    return found;
}

std::vector<Span> class_matches(std::string_view text, bool (*belongs)(std::int32_t))
{
    std::vector<Span> found;
    each_character(text, {0, static_cast<std::uint32_t>(text.size())}, [&](std::int32_t c, Span span) {
        if (belongs(c)) {
            found.push_back(span);
        }
    });
    return found;
}

} // namespace

Matcher::Matcher(Pattern pattern) : pattern_(std::move(pattern))
{
    if (pattern_.kind == Pattern::Kind::regex) {
        regex_.emplace(pattern_.text);
    }
}

std::vector<Span> Matcher::matches(std::string_view text, Budget& budget) const
{
    budget.spend(text.size());
    switch (pattern_.kind) {
    case Pattern::Kind::regex: return regex_->matches(text, budget);
    case Pattern::Kind::white_space: return class_matches(text, is_white_space);
    case Pattern::Kind::punctuation: return class_matches(text, is_punctuation);
    case Pattern::Kind::numeric: return class_matches(text, is_numeric);
    case Pattern::Kind::literal: break;
    }
    return literal_matches(text, pattern_.text);
}

} // namespace attn::text
