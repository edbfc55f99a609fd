#include "attn/report/text/display.hpp"

#include <utf8proc.h>

#include <algorithm>

namespace attn::report {
namespace {

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

} // namespace

Cluster front_cluster(std::string_view text)
{
    CodePoint last = front(text);
    Cluster cluster{last.bytes, utf8proc_charwidth(last.value)};
    utf8proc_int32_t state = 0;
    while (cluster.bytes < text.size()) {
        const CodePoint next = front(text.substr(cluster.bytes));
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

std::string blanks(Index count)
{
    std::string spaces(static_cast<std::size_t>(std::max<Index>(count, 0)), ' '); // braces would make a list of two characters
    return spaces;
}

std::string aligned_left(const std::string& text, Index width)
{
    return text + blanks(width - display_width(text));
}

std::string aligned_right(const std::string& text, Index width)
{
    return blanks(width - display_width(text)) + text;
}

bool runs_right_to_left(std::span<const std::string> words)
{
    Index balance = 0;
    for (const std::string& word : words) {
        for (std::string_view rest = word; !rest.empty();) {
            const CodePoint point = front(rest);
            const auto direction = utf8proc_get_property(point.well_formed ? point.value : 0)->bidi_class;
            if (direction == UTF8PROC_BIDI_CLASS_R || direction == UTF8PROC_BIDI_CLASS_AL) {
                ++balance;
                break;
            }
            if (direction == UTF8PROC_BIDI_CLASS_L) {
                --balance;
                break;
            }
            rest.remove_prefix(point.bytes);
        }
    }
    return balance > 0;
}

std::string visible(std::string_view text, bool (*is_escaped)(std::int32_t))
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const CodePoint point = front(text);
        if (!point.well_formed) {
            out += "\xEF\xBF\xBD";
        } else if (is_escaped(point.value)) {
            const bool one_byte = point.value < 0x80;
            append_escape(out, point.value, one_byte ? "\\x" : "\\u", one_byte ? 2 : 4);
        } else {
            out += text.substr(0, point.bytes);
        }
        text.remove_prefix(point.bytes);
    }
    return out;
}

std::string shortened(std::string_view text, Index width)
{
    return width <= 0
               ? ""
               : shortened(text, width, Index{1}, [](std::string_view, const Cluster& cluster) { return cluster.width; });
}

} // namespace attn::report
