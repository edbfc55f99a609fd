#include "attn/io/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::io {

std::optional<Index> bytes_of(const Shape& shape, Index bits)
{
    // A length of 0 hides no product that overflows: whoever walks over the other lengths would never come back.
    Index total = bits;
    for (const Index length : shape) {
        if (length < 0 || __builtin_mul_overflow(total, std::max(length, Index{1}), &total)) {
            return std::nullopt;
        }
    }
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    return empty ? 0 : total % 8 == 0 ? std::optional(total / 8) : std::nullopt;
}

std::string position_in(std::string_view text, std::size_t offset)
{
    std::size_t begin = text.size() - without_byte_order_mark(text).size();
    Index number = 1;
    offset = std::min(offset, text.size());
    for (std::size_t at = begin; at < offset;) {
        const std::size_t end = text[at] == '\n' || text[at] == '\r' ? line_end_size(text, at) : 0;
        at += std::max<std::size_t>(end, 1);
        if (end > 0 && at <= offset) {
            begin = at;
            ++number;
        }
    }
    const std::string_view line = text.substr(begin, std::max(offset, begin) - begin);
    const auto column =
        std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return fmt::format("line {}, column {}", number, 1 + column);
}

std::string_view as_text(Bytes bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes as_bytes(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

} // namespace attn::io
