#include "attn/text/utf8.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <array>

namespace attn::text {
namespace {

void append(std::string& out, std::int32_t value)
{
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t count = utf8proc_encode_char(value, bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(count));
}

} // namespace

void require_utf8(std::string_view bytes, std::string_view what)
{
    for (std::size_t offset = 0; offset < bytes.size();) {
        const CodePoint point = front(bytes.substr(offset));
        if (!point.well_formed || point.value == 0) {
            std::string byte = "byte 0x";
            append_hex(byte, static_cast<unsigned char>(bytes[offset]), 2);
            throw Error(ErrorKind::data, what, fmt::format("{} at offset {}", byte, offset),
                        "well-formed UTF-8 without NUL bytes");
        }
        offset += point.bytes;
    }
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
            throw Error(ErrorKind::internal, fmt::format("case folding of {} failed", in_quotes(text.substr(0, point.bytes))));
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            append(folded, parts[i]);
        }
        text.remove_prefix(point.bytes);
    }
    return folded;
}

} // namespace attn::text
