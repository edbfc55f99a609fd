// Characters that do something to a terminal or a line of text, where others are only shown.
#pragma once

#include <string_view>

namespace attn {

/// Whether it moves a terminal's cursor, breaks a line or turns the direction of what follows: the controls C0, DEL and C1,
/// U+2028 to U+202E and U+2066 to U+2069.
[[nodiscard]] constexpr bool steers(char32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// The code point of one well-formed UTF-8 sequence (utf8_length).
[[nodiscard]] constexpr char32_t code_point(std::string_view sequence)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
    char32_t c = sequence.size() == 1 ? byte(0) : byte(0) & (0x7FU >> sequence.size());
    for (std::size_t i = 1; i < sequence.size(); ++i) {
        c = (c << 6U) | (byte(i) & 0x3FU);
    }
    return c;
}

} // namespace attn
