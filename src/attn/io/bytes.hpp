// Little-endian numbers in files, and how many bytes a shape takes.
#pragma once

#include "attn/tensor/shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attn::io {

using Bytes = std::span<const std::byte>;

/// Without the byte order mark of UTF-8 that some editors put before a text.
[[nodiscard]] inline std::string_view without_byte_order_mark(std::string_view text)
{
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.substr(text.starts_with(mark) ? mark.size() : 0);
}

/// Of the end of a line that stands there: "\n", "\r\n", "\r" as old Macs have it, and "\r\r\n", which becomes of "\r\n" where
/// it is written as text on Windows. 0: another byte stands there, or none.
[[nodiscard]] inline std::size_t line_end_size(std::string_view text, std::size_t at)
{
    const std::string_view rest = text.substr(std::min(at, text.size()));
    return rest.starts_with("\r\r\n")                         ? 3
           : rest.starts_with("\r\n")                         ? 2
           : rest.starts_with('\n') || rest.starts_with('\r') ? 1
                                                              : 0;
}

/// "line 3, column 7" of the byte at `offset`; columns count characters, not counting a byte order mark.
[[nodiscard]] std::string position_in(std::string_view text, std::size_t offset);

/// NumPy's limit, since its version 2; tensors of files have no more.
inline constexpr std::size_t most_dimensions = 64;

/// The unsigned number in Unsigned's bytes at `at`, which the caller knows to lie within.
template <typename Unsigned>
[[nodiscard]] Unsigned little(Bytes bytes, std::size_t at)
{
    Unsigned value = 0;
    for (std::size_t i = sizeof(Unsigned); i-- > 0;) {
        value = static_cast<Unsigned>(value << 8U | std::to_integer<Unsigned>(bytes[at + i]));
    }
    return value;
}

template <typename Unsigned>
void append_little(std::string& out, Unsigned value)
{
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
        out += static_cast<char>(value >> (8 * i) & 0xffU);
    }
}

/// The bytes that elements of `bits` bits take. Nothing when the product of the lengths, zeros left out, cannot be addressed,
/// or when they end within a byte.
[[nodiscard]] std::optional<Index> bytes_of(const Shape& shape, Index bits);

[[nodiscard]] std::string_view as_text(Bytes bytes);
[[nodiscard]] Bytes as_bytes(std::string_view text);

} // namespace attn::io
