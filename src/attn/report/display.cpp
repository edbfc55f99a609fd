#include "attn/report/display.hpp"

#include "attn/tensor/steering.hpp"

#include <utf8proc.h>

#include <algorithm>

namespace attn::report {
namespace {

constexpr std::string_view ellipsis = "…"; // one column

/// The first code point and its bytes; a byte that is no UTF-8 counts as U+FFFD.
struct Point {
    utf8proc_int32_t value;
    std::size_t bytes;
};

Point front(std::string_view text)
{
    utf8proc_int32_t value = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                     static_cast<utf8proc_ssize_t>(text.size()), &value);
    return length > 0 ? Point{value, static_cast<std::size_t>(length)} : Point{0xFFFD, 1};
}

bool is_regional_indicator(utf8proc_int32_t c)
{
    return c >= 0x1F1E6 && c <= 0x1F1FF;
}

/// Whether U+FE0F makes this one an emoji: pictographs, and the digits, # and * of keycaps (emoji-variation-sequences.txt).
bool takes_emoji_style(utf8proc_int32_t c)
{
    return (c >= '0' && c <= '9') || c == '#' || c == '*' ||
           utf8proc_get_property(c)->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

void append_hex(std::string& out, utf8proc_int32_t c, int digits)
{
    static constexpr std::string_view hex = "0123456789abcdef";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
        out += hex[static_cast<std::size_t>(c >> shift) & 15U];
    }
}

void append_escape(std::string& out, utf8proc_int32_t c)
{
    switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
    }
    out += c < 0x80 ? "\\x" : "\\u";
    append_hex(out, c, c < 0x80 ? 2 : 4);
}

} // namespace

Cluster front_cluster(std::string_view text)
{
    Point last = front(text);
    Cluster cluster{last.bytes, utf8proc_charwidth(last.value)};
    utf8proc_int32_t state = 0;
    while (cluster.bytes < text.size()) {
        const Point next = front(text.substr(cluster.bytes));
        if (utf8proc_grapheme_break_stateful(last.value, next.value, &state)) {
            break;
        }
        const bool emoji = (next.value == 0xFE0F && takes_emoji_style(last.value)) ||
                           (is_regional_indicator(last.value) && is_regional_indicator(next.value));
        cluster.width = std::max<Index>(cluster.width, emoji ? 2 : utf8proc_charwidth(next.value));
        cluster.bytes += next.bytes;
        last = next;
    }
    return cluster;
}

Index display_width(std::string_view text)
{
    Index width = 0;
    while (!text.empty()) {
        const Cluster cluster = front_cluster(text);
        width += cluster.width;
        text.remove_prefix(cluster.bytes);
    }
    return width;
}

std::string visible(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Point point = front(text);
        if (point.value == 0xFFFD && point.bytes == 1) {
            out += "\xEF\xBF\xBD";
        } else if (steers(static_cast<char32_t>(point.value))) {
            append_escape(out, point.value);
        } else {
            out += text.substr(0, point.bytes);
        }
        text.remove_prefix(point.bytes);
    }
    return out;
}

std::string shortened(std::string_view text, Index width)
{
    if (width <= 0) {
        return "";
    }
    // What fits beside the ellipsis, should one be needed.
    std::size_t kept = 0;
    std::size_t seen = 0;
    Index columns = 0;
    while (seen < text.size()) {
        const Cluster cluster = front_cluster(text.substr(seen));
        columns += cluster.width;
        seen += cluster.bytes;
        if (columns > width) {
            return std::string(text.substr(0, kept)).append(ellipsis);
        }
        kept = columns < width ? seen : kept;
    }
    return std::string(text);
}

} // namespace attn::report
