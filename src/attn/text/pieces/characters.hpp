// Classes of characters, as tokenizers mean them.
#pragma once

#include <cstdint>
#include <string>

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

} // namespace attn::text
