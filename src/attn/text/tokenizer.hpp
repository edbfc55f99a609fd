// From a sentence to its words and their ids: the check that it is text, case folding, two rules for words, the sorted
// vocabulary.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn::text {

/// Throws Error(data) with the byte offset and the byte in hex when `bytes` is no well-formed UTF-8 (Unicode 15, table 3-7)
/// or holds a NUL byte. `what` names the input in the message ("SENTENCE", "line 3").
void require_utf8(std::string_view bytes, std::string_view what);

/// Full Unicode case folding without normalisation, as Python's str.casefold ("Straße" → "strasse").
[[nodiscard]] std::string casefold(std::string_view text);

/// General categories L*, M* and Nd.
[[nodiscard]] bool is_letter_mark_or_digit(std::int32_t c);

/// The articles' rule, `sentence.replace(',', '').split()` in Python: commas removed, then split at runs of white space as
/// str.split() sees it (str.isspace: also U+001C…U+001F, U+0085, U+00A0, U+2028, U+3000 …), case kept.
/// `sentence` is well-formed UTF-8. May be empty.
[[nodiscard]] std::vector<std::string> document_words(std::string_view sentence);

/// Runs of letters, marks and digits with inner apostrophes (' U+2019) and hyphens
/// (- U+2010 U+2011); the rest is dropped. "Don't stop—well-known, 3rd!" → Don't, stop, well-known, 3rd.
[[nodiscard]] std::vector<std::string> plain_words(std::string_view sentence);

/// Bytes [begin, end) of a sentence.
struct WordBounds {
    std::size_t begin = 0;
    std::size_t end = 0;
};
/// Where the plain words stand.
[[nodiscard]] std::vector<WordBounds> plain_word_bounds(std::string_view sentence);

/// How many words these two would give, with no memory for them.
[[nodiscard]] std::size_t count_document_words(std::string_view sentence);
[[nodiscard]] std::size_t count_plain_words(std::string_view sentence);

/// The distinct words, sorted by code point ("Life" before "dessert"); a word's id is its position, 0 … n-1.
/// A word that occurs twice has one id (the articles' one-liner, enumerate(sorted(words)), leaves gaps instead).
[[nodiscard]] std::vector<std::string> vocabulary(const std::vector<std::string>& words);

/// The id of each word. Throws Error(internal) for a word that is not in `vocabulary`.
[[nodiscard]] std::vector<Index> ids_of(const std::vector<std::string>& words, const std::vector<std::string>& vocabulary);

} // namespace attn::text
