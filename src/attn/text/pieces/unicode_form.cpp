#include "attn/text/pieces/unicode_form.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace attn::text {
namespace {

struct Character {
    std::int32_t value;
    int combining_class;
    Span from;
};

int combining_class(std::int32_t c)
{
    return c < 0x300 ? 0 : utf8proc_get_property(c)->combining_class;
}

void decompose(std::int32_t c, Span from, bool compatibility, std::vector<Character>& out)
{
    if (c < 0x80) {
        out.push_back({c, 0, from});
        return;
    }
    constexpr std::size_t longest = 32; // U+FDFA becomes 18 characters, and no other one more
    std::array<std::int32_t, longest> parts{};
    constexpr int canonical = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
    const auto options = static_cast<utf8proc_option_t>(compatibility ? canonical | UTF8PROC_COMPAT : canonical);
    const utf8proc_ssize_t count = utf8proc_decompose_char(c, parts.data(), longest, options, nullptr);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(longest)) {
        throw Error(ErrorKind::internal, fmt::format("decomposing U+{} failed", c));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        out.push_back({parts.at(i), combining_class(parts.at(i)), from});
    }
}

/// Runs of marks in the order of their classes.
void reorder(std::vector<Character>& characters)
{
    for (auto begin = characters.begin(); begin != characters.end();) {
        if (begin->combining_class == 0) {
            ++begin;
            continue;
        }
        const auto end = std::find_if(begin, characters.end(), [](const Character& each) { return each.combining_class == 0; });
        std::stable_sort(begin, end,
                         [](const Character& a, const Character& b) { return a.combining_class < b.combining_class; });
        begin = end;
    }
}

/// The character that the two compose, or -1.
std::int32_t composed(std::int32_t first, std::int32_t second)
{
    if (second < 0x300) {
        return -1; // no character below composes with one before it
    }
    std::array<std::int32_t, 2> pair{first, second};
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    return utf8proc_normalize_utf32(pair.data(), 2, options) == 1 ? pair[0] : -1;
}

/// Each character joins the last starter unless something stands between that blocks it.
std::vector<Character> compose(const std::vector<Character>& characters)
{
    std::vector<Character> out;
    out.reserve(characters.size());
    std::size_t starter = characters.size(); // none yet
    for (const Character& each : characters) {
        const bool reachable =
            starter < out.size() && (starter + 1 == out.size() || out.back().combining_class < each.combining_class);
        if (reachable) {
            const std::int32_t both = composed(out[starter].value, each.value);
            if (both >= 0) {
                out[starter].value = both;
                out[starter].from = joined(out[starter].from, each.from);
                continue;
            }
        }
        if (each.combining_class == 0) {
            starter = out.size();
        }
        out.push_back(each);
    }
    return out;
}

} // namespace

AlignedText in_form(const AlignedText& text, Form form)
{
    const std::string& all = text.text();
    if (std::all_of(all.begin(), all.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
        return text;
    }
    std::vector<Character> characters;
    characters.reserve(all.size());
    each_character(all, text.all(), [&](std::int32_t c, Span span) {
        decompose(c, text.source(span), form == Form::nfkc || form == Form::nfkd, characters);
    });
    reorder(characters);
    if (form == Form::nfc || form == Form::nfkc) {
        characters = compose(characters);
    }
    AlignedText out = text.fresh();
    for (const Character& each : characters) {
        out.append(each.value, each.from);
    }
    return out;
}

} // namespace attn::text
