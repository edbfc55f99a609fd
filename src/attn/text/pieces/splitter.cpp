#include "attn/text/pieces/splitter.hpp"

#include "attn/text/pieces/characters.hpp"

#include <algorithm>

namespace attn::text {
namespace {

struct Segment {
    Span span;
    bool is_match;
};

/// Matches and what lies between them.
std::vector<Segment> segments_of(std::string_view text, const std::vector<Span>& matches, bool invert)
{
    std::vector<Segment> segments;
    std::uint32_t behind = 0;
    for (const Span match : matches) {
        if (match.begin > behind) {
            segments.push_back({{behind, match.begin}, invert});
        }
        segments.push_back({match, !invert});
        behind = match.end;
    }
    const auto end = static_cast<std::uint32_t>(text.size());
    if (end > behind) {
        segments.push_back({{behind, end}, invert});
    }
    return segments;
}

/// Writes every word anew; rewrite(text, word, out) appends what becomes of it.
template <typename Rewrite>
SplitWords rewritten(const SplitWords& words, Rewrite rewrite)
{
    SplitWords out{words.text.fresh(), {}};
    for (const Span word : words.spans) {
        const std::uint32_t begin = out.text.all().end;
        rewrite(words.text, word, out.text);
        const std::uint32_t end = out.text.all().end;
        if (end > begin) {
            out.spans.push_back({begin, end});
        }
    }
    return out;
}

void put_space(const AlignedText& text, Span word, AlignedText& out)
{
    if (text.text()[word.begin] != ' ') {
        out.append(" ", text.source(word.begin));
    }
    out.append(text, word);
}

void put_bytes(const AlignedText& text, Span word, AlignedText& out)
{
    for (std::uint32_t byte = word.begin; byte < word.end; ++byte) {
        out.append(character_of_byte(static_cast<unsigned char>(text.text()[byte])), text.source(byte));
    }
}

void put_metaspaces(const AlignedText& text, Span word, const Metaspace& meta, AlignedText& out)
{
    const std::string_view letters = part(text.text(), word);
    const Span first = text.source(word.begin);
    const bool wanted =
        meta.scheme == Metaspace::Scheme::always || (meta.scheme == Metaspace::Scheme::first && first.begin == 0);
    if (wanted && !letters.starts_with(' ') && !letters.starts_with(meta.replacement)) {
        out.append(meta.replacement, first);
    }
    for (std::uint32_t byte = word.begin; byte < word.end; ++byte) {
        const char c = text.text()[byte];
        out.append(c == ' ' ? std::string_view(meta.replacement) : std::string_view(&c, 1), text.source(byte));
    }
}

} // namespace

std::vector<Span> split_at(std::string_view text, const std::vector<Span>& matches, const Split& split)
{
    std::vector<Segment> segments = segments_of(text, matches, split.invert);
    std::vector<Span> parts;
    const bool backwards = split.behavior == Behavior::merged_with_next;
    if (backwards) {
        std::reverse(segments.begin(), segments.end());
    }
    bool match_before = false;
    for (const Segment& segment : segments) {
        bool merges = false;
        switch (split.behavior) {
        case Behavior::removed:
            if (segment.is_match) {
                continue;
            }
            break;
        case Behavior::isolated: break;
        case Behavior::contiguous: merges = segment.is_match == match_before; break;
        case Behavior::merged_with_previous:
        case Behavior::merged_with_next: merges = segment.is_match && !match_before; break;
        }
        match_before = segment.is_match;
        if (merges && !parts.empty()) {
            parts.back() = joined(parts.back(), segment.span);
        } else {
            parts.push_back(segment.span);
        }
    }
    if (backwards) {
        std::reverse(parts.begin(), parts.end());
    }
    return parts;
}

Splitter::Splitter(const std::vector<SplitterStep>& steps)
{
    for (const SplitterStep& step : steps) {
        steps_.push_back(std::visit(
            [](const auto& each) -> Step {
                if constexpr (std::is_same_v<std::decay_t<decltype(each)>, Split>) {
                    return Cutter{Matcher(each.pattern), each};
                } else {
                    return each;
                }
            },
            step));
    }
}

SplitWords Splitter::words(AlignedText text) const
{
    struct Run {
        const SplitWords& words;
        SplitWords operator()(const Cutter& cutter) const
        {
            SplitWords out{words.text, {}};
            for (const Span word : words.spans) {
                const std::string_view letters = part(words.text.text(), word);
                for (const Span span : split_at(letters, cutter.matcher.matches(letters, words.text.budget()), cutter.split)) {
                    out.spans.push_back({word.begin + span.begin, word.begin + span.end});
                }
            }
            return out;
        }
        SplitWords operator()(PrefixSpace) const { return rewritten(words, put_space); }
        SplitWords operator()(ByteAlphabet) const { return rewritten(words, put_bytes); }
        SplitWords operator()(const Metaspace& meta) const
        {
            return rewritten(
                words, [&](const AlignedText& from, Span word, AlignedText& out) { put_metaspaces(from, word, meta, out); });
        }
    };
    const Span all = text.all();
    SplitWords words{std::move(text), {}};
    if (all.size() > 0) {
        words.spans.push_back(all);
    }
    for (const Step& step : steps_) {
        words = std::visit(Run{words}, step);
    }
    return words;
}

bool Splitter::byte_level() const
{
    return std::any_of(steps_.begin(), steps_.end(),
                       [](const Step& step) { return std::holds_alternative<ByteAlphabet>(step); });
}

std::string_view Splitter::space() const
{
    for (const Step& step : steps_) {
        if (const auto* meta = std::get_if<Metaspace>(&step)) {
            return meta->replacement;
        }
    }
    return {};
}

} // namespace attn::text
