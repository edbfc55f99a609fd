// The characters that stand for bytes in byte-level pieces: GPT-2's, of its encoder.py. 33–126, 161–172 and 174–255 stand for
// themselves; the other 68 bytes are U+0100, U+0101, … in their order, so that a space is Ġ and a newline Ċ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attn::text {

/// UTF-8 of the character that stands for `byte`.
[[nodiscard]] std::string_view character_of_byte(unsigned char byte);
/// The byte that `character` stands for, or nothing.
[[nodiscard]] std::optional<unsigned char> byte_of_character(std::int32_t character);
/// The bytes of a piece, or nothing when one of its characters stands for none.
[[nodiscard]] std::optional<std::string> bytes_of_piece(std::string_view piece);

} // namespace attn::text
