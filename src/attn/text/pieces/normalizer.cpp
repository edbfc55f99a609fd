#include "attn/text/pieces/normalizer.hpp"

#include "attn/tensor/error.hpp"
#include "attn/text/pieces/characters.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace attn::text {

// ---- a compiled map of characters ------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view charsmap = "the normalizer's precompiled_charsmap";
constexpr std::size_t unit_bytes = 4;
constexpr std::size_t longest_cluster = 5; ///< that is looked up whole

std::uint32_t little(std::string_view bytes, std::size_t at)
{
    std::uint32_t value = 0;
    for (std::size_t i = unit_bytes; i-- > 0;) {
        value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
}

std::size_t children_of(std::uint32_t unit)
{
    return static_cast<std::size_t>(unit >> 10U) << ((unit & 512U) >> 6U);
}

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const CodePoint point = front(text);
        if (!point.well_formed) {
            return false;
        }
        text.remove_prefix(point.bytes);
    }
    return true;
}

/// Where the grapheme cluster ends that begins at `begin`.
std::uint32_t cluster_end(std::string_view text, std::uint32_t begin)
{
    utf8proc_int32_t state = 0;
    CodePoint before = front(text.substr(begin));
    auto end = begin + static_cast<std::uint32_t>(before.bytes);
    while (end < text.size()) {
        const CodePoint next = front(text.substr(end));
        if (utf8proc_grapheme_break_stateful(before.value, next.value, &state)) {
            break;
        }
        end += static_cast<std::uint32_t>(next.bytes);
        before = next;
    }
    return end;
}

} // namespace

CharacterMapper::CharacterMapper(std::string_view bytes)
{
    const std::size_t size = bytes.size() < unit_bytes ? 0 : little(bytes, 0);
    if (size < unit_bytes || size % unit_bytes != 0 || size > bytes.size() - unit_bytes) {
        throw Error(ErrorKind::data, charsmap, counted(static_cast<std::int64_t>(bytes.size()), "byte"),
                    "a size, a double array of so many bytes, and replacements");
    }
    for (std::size_t at = unit_bytes; at < unit_bytes + size; at += unit_bytes) {
        units_.push_back(little(bytes, at));
    }
    replacements_ = bytes.substr(unit_bytes + size);
    if (!is_utf8(replacements_)) {
        throw Error(ErrorKind::data, charsmap, "replacements that are no UTF-8", "UTF-8");
    }
}

std::uint32_t CharacterMapper::unit(std::size_t place) const
{
    if (place >= units_.size()) {
        throw Error(ErrorKind::data, charsmap, fmt::format("a step to unit {}", place),
                    fmt::format("units up to {}", units_.size() - 1));
    }
    return units_[place];
}

std::string_view CharacterMapper::replacement_at(std::size_t begin) const
{
    if (begin > replacements_.size() ||
        (begin < replacements_.size() && (static_cast<unsigned char>(replacements_[begin]) & 0xC0U) == 0x80U)) {
        throw Error(ErrorKind::data, charsmap, fmt::format("a replacement at byte {}", begin),
                    fmt::format("the beginning of one of its {} bytes", replacements_.size()));
    }
    const std::string_view rest = std::string_view(replacements_).substr(begin);
    return rest.substr(0, rest.find('\0'));
}

std::optional<CharacterMapper::Replacement> CharacterMapper::replacement(std::string_view text, bool longest,
                                                                         Budget& budget) const
{
    std::optional<Replacement> found;
    std::size_t place = children_of(unit(0));
    std::size_t read = 0;
    while (read < text.size()) {
        const auto byte = static_cast<unsigned char>(text[read++]);
        place ^= byte;
        const std::uint32_t here = unit(place);
        if ((here & 0x800000FFU) != byte) {
            break;
        }
        place ^= children_of(here);
        if ((here >> 8U & 1U) != 0) {
            found = Replacement{replacement_at(unit(place) & 0x7FFFFFFFU), read};
            if (!longest) {
                break;
            }
        }
    }
    budget.spend(Budget::steps_per_byte * read);
    return found;
}

AlignedText CharacterMapper::mapped(const AlignedText& text) const
{
    AlignedText out = text.fresh();
    const std::string_view all = text.text();
    for (std::uint32_t begin = 0; begin < all.size();) {
        const Span cluster{begin, cluster_end(all, begin)};
        begin = cluster.end;
        if (cluster.size() <= longest_cluster) {
            if (const auto whole = replacement(part(all, cluster), false, text.budget())) {
                out.append(whole->text, text.source(cluster));
                continue;
            }
        }
        each_character(all, cluster, [&](std::int32_t, Span character) {
            if (const auto single = replacement(part(all, character), false, text.budget())) {
                out.append(single->text, text.source(character));
            } else {
                out.append(text, character);
            }
        });
    }
    return out;
}

// ---- SentencePiece's own pass ----------------------------------------------------------------------------------------------

namespace {

PieceList list_of(const std::vector<std::string>& strings)
{
    PieceList list;
    for (const std::string& each : strings) {
        list.add(each, 0);
    }
    return list;
}

} // namespace

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceRules& rules)
    : rules_(rules), kept_(list_of(rules.kept), true, "a user-defined piece")
{
    if (!rules.map.empty()) {
        mapper_.emplace(rules.map);
    }
    rules_.map.clear();
    rules_.kept.clear();
}

/// What the first bytes of a text become: a kept string stays, and so does a character that the map does not know.
CharacterMapper::Replacement SentencePieceNormalizer::first(std::string_view text, Budget& budget) const
{
    std::size_t size = 0;
    kept_.each_beginning({}, text, budget, [&](std::size_t longest, std::uint32_t) { size = longest; });
    if (size == 0 && mapper_) {
        if (const auto found = mapper_->replacement(text, true, budget)) {
            return *found;
        }
    }
    size = size == 0 ? front(text).bytes : size;
    return {text.substr(0, size), size};
}

AlignedText SentencePieceNormalizer::normalized(const AlignedText& text) const
{
    const std::string_view all = text.text();
    const std::string_view space = rules_.escape ? "\u2581" : " ";
    AlignedText out = text.fresh();
    bool begun = false;
    bool behind_space = rules_.few_spaces;
    for (std::size_t at = 0; at < all.size();) {
        const auto [made, size] = first(all.substr(at), text.budget());
        const Span source = text.source(Span{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + size)});
        at += size;
        if (!begun && rules_.few_spaces && made == " ") {
            continue;
        }
        if (!std::exchange(begun, true) && rules_.prefix) {
            out.append(space, text.source(at - size));
        }
        const std::size_t spaces = behind_space ? std::min(made.find_first_not_of(' '), made.size()) : 0;
        for (std::size_t i = spaces; i < made.size(); ++i) {
            out.append(made[i] == ' ' ? space : made.substr(i, 1), source);
        }
        behind_space = spaces < made.size() ? rules_.few_spaces && made.ends_with(' ') : behind_space;
    }
    Span inner = out.all();
    while (rules_.few_spaces && part(out.text(), inner).ends_with(space)) {
        inner.end -= static_cast<std::uint32_t>(space.size());
    }
    AlignedText done = text.fresh();
    done.append(out, inner);
    if (begun && rules_.suffix) {
        done.append(space, text.source(all.size() - 1));
    }
    return done;
}

// ---- all steps -------------------------------------------------------------------------------------------------------------

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
            } else if constexpr (std::is_same_v<Each, SentencePieceRules>) {
                return SentencePieceNormalizer(each);
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
        AlignedText operator()(const SentencePieceNormalizer& rules) const { return rules.normalized(text); }
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
