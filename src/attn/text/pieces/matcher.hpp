// Where a pattern stands in a text.
#pragma once

#include "attn/text/pieces/aligned.hpp"
#include "attn/text/pieces/regex.hpp"
#include "attn/text/pieces/tokenizer_spec.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace attn::text {

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
