// UTF-8: validation and case folding.
#pragma once

#include <string>
#include <string_view>

namespace attn::text {

/// Throws Error(data) with the byte offset and the byte in hex when `bytes` is no well-formed UTF-8 (Unicode 15, table 3-7)
/// or holds a NUL byte. `what` names the input in the message ("SENTENCE", "line 3").
void require_utf8(std::string_view bytes, std::string_view what);

/// Full Unicode case folding without normalisation, as Python's str.casefold ("Straße" → "strasse").
[[nodiscard]] std::string casefold(std::string_view text);

} // namespace attn::text
