// How wide text is in a picture whose font is not known: an estimate that errs on the wide side.
#pragma once

#include <string>
#include <string_view>

namespace attn::report {

/// In em (multiples of the font's size), for a proportional font without serifs. Summed by grapheme cluster: combining accents
/// take nothing, Chinese characters and emoji sequences their square and a little more.
[[nodiscard]] double text_width(std::string_view text);

/// `text`, or as much of it as fits within `width` em, cut between clusters and ended with "…".
[[nodiscard]] std::string shortened_to(std::string_view text, double width);

} // namespace attn::report
