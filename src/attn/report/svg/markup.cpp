#include "attn/report/svg/markup.hpp"

#include "attn/report/text/display.hpp"

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

} // namespace attn::report
