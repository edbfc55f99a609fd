#include "attn/text/utf8.hpp"

#include "attn/tensor/error.hpp"

#include <utf8proc.h>

#include <array>

namespace attn::text {
namespace {

utf8proc_ssize_t decode(std::string_view text, std::int32_t& value)
{
    return utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                            &value);
}

[[noreturn]] void refuse(std::string_view what, unsigned char byte, std::size_t offset)
{
    static constexpr std::string_view digits = "0123456789abcdef";
    const std::string hex{'0', 'x', digits[byte >> 4U], digits[byte & 15U]};
    throw Error(ErrorKind::data, what, "byte " + hex + " at offset " + std::to_string(offset),
                "well-formed UTF-8 without NUL bytes");
}

void append(std::string& out, std::int32_t value)
{
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t count = utf8proc_encode_char(value, bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(count));
}

} // namespace

void require_utf8(std::string_view bytes, std::string_view what)
{
    std::size_t offset = 0;
    while (offset < bytes.size()) {
        std::int32_t value = 0;
        const utf8proc_ssize_t length = decode(bytes.substr(offset), value);
        if (length <= 0 || value == 0) {
            refuse(what, static_cast<unsigned char>(bytes[offset]), offset);
        }
        offset += static_cast<std::size_t>(length);
    }
}

CodePoint front(std::string_view text)
{
    if (!text.empty() && static_cast<unsigned char>(text.front()) < 0x80) {
        return {text.front(), 1};
    }
    std::int32_t value = 0;
    const utf8proc_ssize_t length = decode(text, value);
    if (length <= 0) {
        throw Error(ErrorKind::internal, "text " + quoted(text) + " was not checked to be UTF-8");
    }
    return {value, static_cast<std::size_t>(length)};
}

std::string casefold(std::string_view text)
{
    std::string folded;
    folded.reserve(text.size());
    while (!text.empty()) {
        const CodePoint point = front(text);
        // No code point folds to more than three (CaseFolding.txt, status F).
        std::array<std::int32_t, 4> parts{};
        const utf8proc_ssize_t count =
            utf8proc_decompose_char(point.value, parts.data(), parts.size(), UTF8PROC_CASEFOLD, nullptr);
        if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
            throw Error(ErrorKind::internal, "case folding of " + quoted(text.substr(0, point.bytes)) + " failed");
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            append(folded, parts[i]);
        }
        text.remove_prefix(point.bytes);
    }
    return folded;
}

} // namespace attn::text
