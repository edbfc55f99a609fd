#include "attn/report/svg/markup.hpp"

#include "attn/report/svg/letter_widths.hpp"
#include "attn/report/text/display.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace attn::report {

std::string drawable(std::string_view word)
{
    // Well-formed UTF-8 can encode two code points that XML 1.0 forbids beside the controls.
    return visible(word, [](std::int32_t c) { return steers(c) || c == 0xFFFE || c == 0xFFFF; });
}

std::string escaped(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default: out += c;
        }
    }
    return out;
}

std::string length(double value)
{
    const double hundredths = std::round(value * 100);
    const auto whole = static_cast<long long>(std::abs(hundredths));
    std::string out = (hundredths < 0 ? "-" : "") + std::to_string(whole / 100);
    if (const long long rest = whole % 100; rest != 0) {
        out += '.';
        out += static_cast<char>('0' + rest / 10);
        if (rest % 10 != 0) {
            out += static_cast<char>('0' + rest % 10);
        }
    }
    return out;
}

std::string attribute(std::string_view name, std::string_view value)
{
    std::string out = " ";
    out.append(name).append("=\"").append(value).append("\"");
    return out;
}

std::string attribute(std::string_view name, double value)
{
    return attribute(name, length(value));
}

std::string hex(Rgb colour)
{
    std::string text = "#";
    for (const std::int32_t level : {colour.r, colour.g, colour.b}) {
        append_hex(text, level, 2);
    }
    return text;
}

// ---- how wide text is ------------------------------------------------------------------------------------------------------

namespace {

// What Noto, DejaVu and the fonts of Windows and macOS do not exceed, ligatures of a whole phrase aside.
constexpr double wide_width = 1.05;
constexpr double emoji_width = 1.4;
constexpr double capital_width = 1.1;
constexpr double small_letter_width = 0.95;
constexpr double other_letter_width = 1.25; // Arabic, Devanagari, Thai, …
constexpr double spacing_mark_width = 0.8;
constexpr double symbol_width = 1;
constexpr utf8proc_int32_t basmala = 0xFDFD; // a sentence in one character
constexpr double basmala_width = 12;

double letter_width(utf8proc_int32_t c)
{
    if (c >= 0x20 && c < 0x7F) {
        return letter_widths.at(static_cast<std::size_t>(c - 0x20)) / 1000.0;
    }
    if (c == basmala) {
        return basmala_width;
    }
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF: return 0;
    case UTF8PROC_CATEGORY_MC: return spacing_mark_width;
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: return capital_width;
    case UTF8PROC_CATEGORY_LL: return small_letter_width;
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_LM:
        return utf8proc_charwidth(c) == 0 ? 0 : other_letter_width; // the later letters of a Hangul syllable
    default: return symbol_width;
    }
}

/// A character by the parts that it is made of: "é" is as wide as "e", "ǆ" as "d" and "z".
double width_of(utf8proc_int32_t c)
{
    if (utf8proc_charwidth(c) == 2) {
        return wide_width;
    }
    constexpr std::size_t most_parts = 32; // U+FDFA has 18
    std::array<utf8proc_int32_t, most_parts> parts{};
    int boundary = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(
        c, parts.data(), most_parts, static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT), &boundary);
    if (count <= 0 || count > static_cast<utf8proc_ssize_t>(most_parts)) {
        return letter_width(c);
    }
    double width = 0;
    std::for_each_n(parts.begin(), count, [&](utf8proc_int32_t part) { width += letter_width(part); });
    return width;
}

double cluster_width(std::string_view text, const Cluster& cluster)
{
    double width = 0;
    bool emoji = false;
    while (!text.empty()) {
        const auto [c, bytes, well_formed] = front(text);
        emoji = emoji || (c == 0xFE0F && cluster.width == 2) ||
                utf8proc_get_property(c)->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC ||
                utf8proc_get_property(c)->boundclass == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR;
        width += width_of(c);
        text.remove_prefix(bytes);
    }
    return emoji ? emoji_width : cluster.width == 2 ? wide_width : width;
}

} // namespace

double text_width(std::string_view text)
{
    double width = 0;
    while (!text.empty()) {
        const Cluster cluster = front_cluster(text);
        width += cluster_width(text.substr(0, cluster.bytes), cluster);
        text.remove_prefix(cluster.bytes);
    }
    return width;
}

std::string shortened_to(std::string_view text, double width)
{
    return shortened(text, width, text_width("…"), cluster_width);
}

} // namespace attn::report
