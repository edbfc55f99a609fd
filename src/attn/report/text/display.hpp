// How wide text is on a terminal, and text made safe to show there.
#pragma once

#include "attn/tensor/shape.hpp"
#include "attn/tensor/utf8.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

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

/// So many, none below 0; and `text` with as many behind or in front of it as it takes to be so wide.
[[nodiscard]] std::string blanks(Index count);
[[nodiscard]] std::string aligned_left(const std::string& text, Index width);
[[nodiscard]] std::string aligned_right(const std::string& text, Index width);

/// The largest of what `measure` says of each, 0 at least.
template <typename Range, typename Measure>
[[nodiscard]] auto widest(const Range& range, const Measure& measure)
{
    std::decay_t<decltype(std::invoke(measure, *std::begin(range)))> width{};
    for (const auto& each : range) {
        width = std::max(width, std::invoke(measure, each));
    }
    return width;
}

/// Whether most words that have a direction begin with a letter that is read from right to left (Arabic, Hebrew, …).
[[nodiscard]] bool runs_right_to_left(std::span<const std::string> words);

/// Control characters as \n, \t, \x1b or \u0085, so that a word can neither move the cursor nor break a line; line and
/// paragraph separators (U+2028, U+2029), bidirectional overrides and isolates (U+202A…U+202E, U+2066…U+2069) likewise.
[[nodiscard]] std::string visible(std::string_view text, bool (*is_escaped)(std::int32_t) = steers);

/// At most `width` columns of `text`, cut between clusters and ended with "…" when something was left out.
[[nodiscard]] std::string shortened(std::string_view text, Index width);

/// The same for another measure: `width_of(bytes, cluster)` is the width of a cluster, `ellipsis` that of "…".
template <typename Width, typename Measure>
[[nodiscard]] std::string shortened(std::string_view text, Width width, Width ellipsis, Measure width_of)
{
    std::size_t kept = 0; // what fits beside the ellipsis, should one be needed
    std::size_t seen = 0;
    Width used = 0;
    while (seen < text.size()) {
        const Cluster cluster = front_cluster(text.substr(seen));
        used += width_of(text.substr(seen, cluster.bytes), cluster);
        seen += cluster.bytes;
        if (used > width) {
            return std::string(text.substr(0, kept)).append("…");
        }
        kept = used + ellipsis <= width ? seen : kept;
    }
    return std::string(text);
}

} // namespace attn::report
