// Pieces of XML: text that is safe between tags and in attributes, short numbers, colours; and how wide text is.
#pragma once

#include "attn/report/colour_map.hpp"

#include <string>
#include <string_view>

namespace attn::report {

/// A word as a picture shows it: control characters as `visible` writes them, and what XML 1.0 cannot hold likewise (\ufffe).
[[nodiscard]] std::string drawable(std::string_view word);

/// With & < > " and ' as entities.
[[nodiscard]] std::string escaped(std::string_view text);

/// A length with two decimals at most: "12", "0.5", "-3.25".
[[nodiscard]] std::string length(double value);

/// ` name="value"`, a space in front; the value is not escaped.
[[nodiscard]] std::string attribute(std::string_view name, std::string_view value);
[[nodiscard]] std::string attribute(std::string_view name, double value);

/// "#00224e"
[[nodiscard]] std::string hex(Rgb colour);

// How wide text is in a picture whose font is not known: an estimate that errs on the wide side.

/// In em (multiples of the font's size), for a proportional font without serifs. Summed by grapheme cluster: combining accents
/// take nothing, Chinese characters and emoji sequences their square and a little more.
[[nodiscard]] double text_width(std::string_view text);

/// `text`, or as much of it as fits within `width` em, cut between clusters and ended with "…".
[[nodiscard]] std::string shortened_to(std::string_view text, double width);

} // namespace attn::report
