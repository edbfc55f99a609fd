#include "attn/text/pieces/normalizer.hpp"

#include "attn/text/pieces/characters.hpp"
#include "attn/text/pieces/unicode_form.hpp"

#include <utf8proc.h>

#include <algorithm>

namespace attn::text {
namespace {

/// The characters that `keep` keeps.
template <typename Keep>
AlignedText kept(const AlignedText& text, Keep keep)
{
    AlignedText out = text.fresh();
    each_character(text.text(), text.all(), [&](std::int32_t c, Span span) {
        if (keep(c)) {
            out.append(text, span);
        }
    });
    return out;
}

AlignedText cleaned(const AlignedText& text)
{
    AlignedText out = text.fresh();
    each_character(text.text(), text.all(), [&](std::int32_t c, Span span) {
        if (c == 0 || c == 0xFFFD || is_bert_control(c)) {
            return;
        }
        if (is_white_space(c)) {
            out.append(" ", text.source(span));
        } else {
            out.append(text, span);
        }
    });
    return out;
}

AlignedText with_spaced_chinese(const AlignedText& text)
{
    AlignedText out = text.fresh();
    each_character(text.text(), text.all(), [&](std::int32_t c, Span span) {
        const bool spaced = is_bert_chinese(c);
        if (spaced) {
            out.append(" ", text.source(span));
        }
        out.append(text, span);
        if (spaced) {
            out.append(" ", text.source(span));
        }
    });
    return out;
}

AlignedText lowered(const AlignedText& text)
{
    constexpr std::int32_t dotted_capital_i = 0x130; // the one whose lower case is two characters (SpecialCasing.txt)
    AlignedText out = text.fresh();
    each_character(text.text(), text.all(), [&](std::int32_t c, Span span) {
        const std::int32_t lower = c < 0x80 ? (c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) : utf8proc_tolower(c);
        if (c == dotted_capital_i) {
            out.append("i\u0307", text.source(span));
        } else if (lower == c) {
            out.append(text, span);
        } else {
            out.append(lower, text.source(span));
        }
    });
    return out;
}

AlignedText stripped(const AlignedText& text, const Strip& strip)
{
    const std::string_view all = text.text();
    Span inner{0, 0};
    bool seen = false; // of what is no white space
    each_character(all, text.all(), [&](std::int32_t c, Span span) {
        if (!is_white_space(c)) {
            inner = {seen ? inner.begin : span.begin, span.end};
            seen = true;
        }
    });
    if (!strip.left || !seen) {
        inner.begin = strip.left ? static_cast<std::uint32_t>(all.size()) : 0;
    }
    if (!strip.right) {
        inner.end = static_cast<std::uint32_t>(all.size());
    }
    AlignedText out = text.fresh();
    out.append(text, {inner.begin, std::max(inner.begin, inner.end)});
    return out;
}

AlignedText prepended(const AlignedText& text, std::string_view what)
{
    if (text.text().empty()) {
        return text;
    }
    AlignedText out = text.fresh();
    out.append(what, text.source(std::size_t{0}));
    out.append(text, text.all());
    return out;
}

} // namespace

Normalizer::Step Normalizer::prepared(const NormalizerStep& step)
{
    return std::visit(
        [](const auto& each) -> Step {
            using Each = std::decay_t<decltype(each)>;
            if constexpr (std::is_same_v<Each, Replace>) {
                return Replacer{Matcher(each.pattern), each.content};
            } else if constexpr (std::is_same_v<Each, CharacterMap>) {
                return CharacterMapper(each.bytes);
            } else {
                return each;
            }
        },
        step);
}

Normalizer::Normalizer(const std::vector<NormalizerStep>& steps)
{
    for (const NormalizerStep& step : steps) {
        steps_.push_back(prepared(step));
    }
}

AlignedText Normalizer::replaced(const AlignedText& text, const Replacer& replacer)
{
    AlignedText out = text.fresh();
    std::uint32_t behind = 0;
    for (const Span match : replacer.matcher.matches(text.text(), text.budget())) {
        out.append(text, {behind, match.begin});
        out.append(replacer.content, text.source(std::size_t{match.end} - 1)); // `tokenizers` takes its last character alone
        behind = match.end;
    }
    out.append(text, {behind, text.all().end});
    return out;
}

AlignedText Normalizer::normalized(AlignedText text) const
{
    struct Run {
        const AlignedText& text;
        AlignedText operator()(Form form) const { return in_form(text, form); }
        AlignedText operator()(CleanText) const { return cleaned(text); }
        AlignedText operator()(SpaceChinese) const { return with_spaced_chinese(text); }
        AlignedText operator()(DropMarks drop) const
        {
            return kept(text, [&](std::int32_t c) { return !(drop.nonspacing_alone ? is_nonspacing_mark(c) : is_mark(c)); });
        }
        AlignedText operator()(Lowercase) const { return lowered(text); }
        AlignedText operator()(const Strip& strip) const { return stripped(text, strip); }
        AlignedText operator()(const Prepend& prepend) const { return prepended(text, prepend.text); }
        AlignedText operator()(const Replacer& replacer) const { return replaced(text, replacer); }
        AlignedText operator()(const CharacterMapper& mapper) const { return mapper.mapped(text); }
    };
    for (const Step& step : steps_) {
        text = std::visit(Run{text}, step);
    }
    return text;
}

std::string Normalizer::normalized(std::string_view text, Budget& budget) const
{
    return normalized(AlignedText(text, {0, static_cast<std::uint32_t>(text.size())}, budget)).text();
}

} // namespace attn::text
