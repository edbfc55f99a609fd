// Where a pattern stands in a text: a literal, a class of characters, or a regular expression.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::text {

// Regular expressions of tokenizer.json, which are written for Oniguruma, run by PCRE2.
//
// Where the two mean different things the expression is rewritten (\s, \w, \u00e9, scripts), and what cannot be rewritten is
// refused by name (&& and [ inside a class, \h, anchors that PCRE2 knows otherwise, …).

/// `pattern` as PCRE2 with UTF, UCP and MULTILINE understands it. Throws Error(data), naming what cannot be said there.
[[nodiscard]] std::string pcre2_of(std::string_view pattern);

class Regex {
public:
    /// Throws Error(data) for what PCRE2 refuses too.
    explicit Regex(std::string_view pattern);

    /// The matches within `text`, well-formed UTF-8, from left to right, empty ones left out. Throws Error(data) for an
    /// expression that tries too long.
    [[nodiscard]] std::vector<Span> matches(std::string_view text, Budget& budget) const;

private:
    struct Compiled;
    std::shared_ptr<const Compiled> compiled_;
    std::string pattern_;
};

class Matcher {
public:
    /// Throws Error(data) for a regular expression that cannot be run.
    explicit Matcher(Pattern pattern);

    /// The matches within `text`, from left to right, none of them empty. Throws Error(data) where they cost more than is left.
    [[nodiscard]] std::vector<Span> matches(std::string_view text, Budget& budget) const;

private:
    Pattern pattern_;
    std::optional<Regex> regex_;
};

} // namespace attn::text
