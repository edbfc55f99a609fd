// How wide text is on a terminal, and text made safe to show there.
#pragma once

#include "attn/tensor/shape.hpp"

#include <string>
#include <string_view>

namespace attn::report {

/// A grapheme cluster: its bytes and columns.
struct Cluster {
    std::size_t bytes = 0;
    Index width = 0;
};
/// The cluster at the front of non-empty `text`. It is as wide as its widest code point, so that what joins (an emoji family,
/// a syllable of Hangul letters) takes the place of one; a pair of regional indicators and an emoji style are 2 wide.
[[nodiscard]] Cluster front_cluster(std::string_view text);

/// Columns that well-formed UTF-8 takes, summed by grapheme cluster (an emoji family is 2 wide, a combining accent 0).
[[nodiscard]] Index display_width(std::string_view text);

/// Control characters as \n, \t, \x1b or \u0085, so that a word can neither move the cursor nor break a line; line and
/// paragraph separators (U+2028, U+2029), bidirectional overrides and isolates (U+202A…U+202E, U+2066…U+2069) likewise.
[[nodiscard]] std::string visible(std::string_view text);

/// At most `width` columns of `text`, cut between clusters and ended with "…" when something was left out.
[[nodiscard]] std::string shortened(std::string_view text, Index width);

} // namespace attn::report
