#include "attn/tensor/utf8.hpp"

#include <utf8proc.h>

namespace attn {

CodePoint front(std::string_view text)
{
    if (static_cast<unsigned char>(text.front()) < 0x80) {
        return {text.front(), 1, true};
    }
    std::int32_t value = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                     static_cast<utf8proc_ssize_t>(text.size()), &value);
    return length > 0 ? CodePoint{value, static_cast<std::size_t>(length), true} : CodePoint{};
}

void append_hex(std::string& out, std::int32_t number, int digits)
{
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
        out += "0123456789abcdef"[number >> shift & 15];
    }
}

void append_escape(std::string& out, std::int32_t c, std::string_view mark, int digits)
{
    switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += mark; append_hex(out, c, digits);
    }
}

} // namespace attn
