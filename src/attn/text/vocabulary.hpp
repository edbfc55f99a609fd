// The sorted word-to-index table.
#pragma once

#include "attn/tensor/shape.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attn::text {

/// The distinct words, sorted by code point ("Life" before "dessert"); a word's id is its position, 0 … n-1.
/// A word that occurs twice has one id (the articles' one-liner, enumerate(sorted(words)), leaves gaps instead).
[[nodiscard]] std::vector<std::string> vocabulary(const std::vector<std::string>& words);

/// The id of each word. Throws Error(internal) for a word that is not in `vocabulary`.
[[nodiscard]] std::vector<Index> ids_of(const std::vector<std::string>& words, const std::vector<std::string>& vocabulary);

} // namespace attn::text
