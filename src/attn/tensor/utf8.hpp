// UTF-8: the walk over code points, and those that do something to a terminal or a line of text, where others are only shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// A decoded code point and how many bytes it took. A byte that begins no well-formed sequence (Unicode 15, table 3-7) is none:
/// it counts alone, as U+FFFD.
struct CodePoint {
    std::int32_t value = 0xFFFD;
    std::size_t bytes = 1;
    bool well_formed = false;
};
/// The first one of non-empty `text`.
[[nodiscard]] CodePoint front(std::string_view text);

/// Whether it moves a terminal's cursor, breaks a line or turns the direction of what follows: the controls C0, DEL and C1,
/// U+2028 to U+202E and U+2066 to U+2069.
[[nodiscard]] constexpr bool steers(std::int32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// So many hexadecimal digits, in lower case.
void append_hex(std::string& out, std::int32_t number, int digits);
/// \n, \r, \t, or `mark` and the digits.
void append_escape(std::string& out, std::int32_t c, std::string_view mark, int digits);

} // namespace attn
