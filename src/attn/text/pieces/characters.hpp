// Characters, as tokenizers mean them: their classes, and those that stand for bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attn::text {

/// Unicode's White_Space. U+180E is not white space since Unicode 6.3.
[[nodiscard]] bool is_white_space(std::int32_t c);
/// ASCII's marks, also the ones that Unicode calls symbols ($ + < = > ^ ` | ~), and category P.
[[nodiscard]] bool is_punctuation(std::int32_t c);
/// Category N.
[[nodiscard]] bool is_numeric(std::int32_t c);
/// Category M; category Mn.
[[nodiscard]] bool is_mark(std::int32_t c);
[[nodiscard]] bool is_nonspacing_mark(std::int32_t c);
/// Categories Cc, Cf and Co, but neither tab, newline nor carriage return.
[[nodiscard]] bool is_bert_control(std::int32_t c);
/// What BERT takes for Chinese: the ideographs of its time; U+2B820 to U+2B91F are missing in its source too.
[[nodiscard]] bool is_bert_chinese(std::int32_t c);
/// What \w means in Unicode (UTS 18, annex C): letters, marks, decimal digits and what else is alphabetic, connectors, joiners.
[[nodiscard]] bool is_word_character(std::int32_t c);

void append_character(std::string& out, std::int32_t c);

// The characters that stand for bytes in byte-level pieces: GPT-2's, of its encoder.py. 33–126, 161–172 and 174–255 stand for
// themselves; the other 68 bytes are U+0100, U+0101, … in their order, so that a space is Ġ and a newline Ċ.

/// UTF-8 of the character that stands for `byte`.
[[nodiscard]] std::string_view character_of_byte(unsigned char byte);
/// The byte that `character` stands for, or nothing.
[[nodiscard]] std::optional<unsigned char> byte_of_character(std::int32_t character);
/// The bytes of a piece, or nothing when one of its characters stands for none.
[[nodiscard]] std::optional<std::string> bytes_of_piece(std::string_view piece);

} // namespace attn::text
