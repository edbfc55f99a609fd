#include "attn/text/pieces/matcher.hpp"

#include "attn/tensor/error.hpp"
#include "attn/text/pieces/characters.hpp"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>
#include <set>
#include <vector>

namespace attn::text {

// ---- regular expressions ---------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t longest_pattern = 4096;   ///< bytes; those of real tokenizers have up to 300
constexpr std::size_t largest_code = 16384;     ///< bytes, compiled
constexpr std::uint32_t first_steps = 16;       ///< that a match is tried with,
constexpr std::size_t first_window = 256;       ///< and bytes that it sees
constexpr unsigned more = 4;                    ///< times as many, each time that is too little
constexpr std::uint32_t most_steps = 1U << 20U; ///< of one match
constexpr std::uint32_t most_depth = 10'000;    ///< of backtracking within backtracking
constexpr std::uint32_t most_heap = 16 * 1024;  ///< KiB of one match

template <typename T, void (*free)(T*)>
struct Freed {
    void operator()(T* pointer) const { free(pointer); }
};
template <typename T, void (*free)(T*)>
using Owned = std::unique_ptr<T, Freed<T, free>>;

using Code = Owned<pcre2_code, pcre2_code_free>;
using CompileContext = Owned<pcre2_compile_context, pcre2_compile_context_free>;
using MatchContext = Owned<pcre2_match_context, pcre2_match_context_free>;
using MatchData = Owned<pcre2_match_data, pcre2_match_data_free>;

/// PCRE2 returns no memory as nullptr.
template <typename Owner>
Owner required(Owner owner)
{
    if (!owner) {
        throw std::bad_alloc();
    }
    return owner;
}

std::string message_of(int error)
{
    std::array<unsigned char, 256> text{};
    const int size = pcre2_get_error_message(error, text.data(), text.size());
    return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(size > 0 ? size : 0)};
}

/// The beginning of the character that the byte at `place` belongs to.
std::size_t character_at(std::string_view text, std::size_t place)
{
    while ((static_cast<unsigned char>(text[place]) & 0xC0U) == 0x80U) {
        --place;
    }
    return place;
}

PCRE2_SPTR units(std::string_view text)
{
    static constexpr char nothing = 0;
    return reinterpret_cast<PCRE2_SPTR>(text.empty() ? &nothing : text.data());
}

Code compile(std::string_view pattern)
{
    if (pattern.size() > longest_pattern) {
        throw Error(ErrorKind::data, "a regular expression", fmt::format("{} bytes", pattern.size()),
                    fmt::format("up to {}", longest_pattern));
    }
    const std::string rewritten = pcre2_of(pattern);
    const CompileContext context = required(CompileContext(pcre2_compile_context_create(nullptr)));
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    int error = 0;
    std::size_t offset = 0;
    // Oniguruma's ^ and $ stand at every line. A pattern comes from a JSON string, which is well-formed UTF-8.
    Code code(pcre2_compile(units(rewritten), rewritten.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_ANCHORED, &error, &offset,
                            context.get()));
    if (!code) {
        throw Error(ErrorKind::data, "regular expression " + in_quotes(pattern), message_of(error), "what PCRE2 understands");
    }
    std::size_t size = 0;
    (void)pcre2_pattern_info(code.get(), PCRE2_INFO_SIZE, &size);
    if (size > largest_code) {
        throw Error(ErrorKind::data, "regular expression " + in_quotes(pattern), fmt::format("{} bytes when compiled", size),
                    fmt::format("up to {}", largest_code));
    }
    // Without just-in-time compilation, where memory may not be executed, it is interpreted.
    (void)pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
    return code;
}

/// What one walk over a text needs.
struct MatchRun {
    MatchContext context = required(MatchContext(pcre2_match_context_create(nullptr)));
    MatchData data;

    explicit MatchRun(const pcre2_code* code) : data(required(MatchData(pcre2_match_data_create_from_pattern(code, nullptr))))
    {
        pcre2_set_depth_limit(context.get(), most_depth);
        pcre2_set_heap_limit(context.get(), most_heap);
    }

    /// At `from` itself. PCRE2 does not say how many steps a match took, nor how far it looked: so it is tried with few and a
    /// short window, and again with more when that was too little. What looks beyond the window is told as a partial match.
    int match(const pcre2_code* code, std::string_view text, std::size_t from, Budget& budget) const
    {
        std::uint32_t steps = first_steps;
        for (std::size_t window = first_window;;) {
            budget.spend(steps * (window / first_window));
            const bool whole = window >= text.size() - from;
            const int found = once(code, whole ? text : text.substr(0, character_at(text, from + window)), from,
                                   whole ? 0 : PCRE2_PARTIAL_HARD, steps);
            if (found == PCRE2_ERROR_PARTIAL) {
                window *= more;
            } else if (found == PCRE2_ERROR_MATCHLIMIT && steps < most_steps) {
                steps *= more;
            } else {
                return found;
            }
        }
    }

private:
    int once(const pcre2_code* code, std::string_view text, std::size_t from, std::uint32_t options, std::uint32_t steps) const
    {
        pcre2_set_match_limit(context.get(), steps);
        const auto run = [&](std::uint32_t more_options) {
            return pcre2_match(code, units(text), text.size(), from, PCRE2_NO_UTF_CHECK | options | more_options, data.get(),
                               context.get());
        };
        const int found = run(0); // on 32 KiB of the machine's stack
        return found == PCRE2_ERROR_JIT_STACKLIMIT ? run(PCRE2_NO_JIT) : found;
    }
};

} // namespace

struct Regex::Compiled {
    Code code;
};

Regex::Regex(std::string_view pattern)
    : compiled_(std::make_shared<const Compiled>(Compiled{compile(pattern)})), pattern_(pattern)
{
}

std::vector<Span> Regex::matches(std::string_view text, Budget& budget) const
{
    const pcre2_code* code = compiled_->code.get();
    const MatchRun matcher(code);
    std::vector<Span> found;
    for (std::size_t from = 0; from < text.size();) {
        const int result = matcher.match(code, text, from, budget);
        if (result < 0 && result != PCRE2_ERROR_NOMATCH) {
            throw Error(ErrorKind::data, "regular expression " + in_quotes(pattern_),
                        fmt::format("{} at byte {}", message_of(result), from),
                        fmt::format("expressions that match within {} steps", most_steps));
        }
        const std::size_t end = result < 0 ? from : pcre2_get_ovector_pointer(matcher.data.get())[1];
        if (end > from) {
            found.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(end)});
            from = end;
        } else {
            from += front(text.substr(from)).bytes;
        }
    }
    return found;
}

namespace {

// White_Space without U+180E, which PCRE2 counts as \s, as the inside of a class; and all the others.
constexpr std::string_view white_space =
    R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr std::string_view no_white_space =
    R"(\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027})"
    R"(\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";
// Letters, marks, digits and circled letters. Unicode's own list has the joiners U+200C and U+200D too, Oniguruma's has not.
constexpr std::string_view word_characters =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
// ² ³ ¹ ¼ ½ ¾, which Oniguruma takes for word characters except in a class.
constexpr std::string_view word_characters_outside = R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";

constexpr std::string_view allowed = "what Oniguruma and PCRE2 read alike";

/// Walks over a pattern and writes it anew.
class Rewriter {
public:
    explicit Rewriter(std::string_view pattern) : pattern_(pattern), rest_(pattern) {}

    std::string rewritten()
    {
        while (!rest_.empty()) {
            step();
        }
        return std::move(out_);
    }

private:
    [[noreturn]] void refuse(std::string_view what) const
    {
        throw Error(ErrorKind::data, "regular expression " + in_quotes(pattern_), in_quotes(what), allowed);
    }
    void copy(std::size_t bytes)
    {
        out_ += rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
    }
    void step()
    {
        switch (rest_.front()) {
        case '\\': escape(); return;
        case '[': open_class(); return;
        case '(': open_group(); return;
        case '{': interval(); return;
        case ']':
            in_class_ = false;
            copy(1);
            return;
        case ')':
            if (!in_class_ && !open_.empty()) {
                closed_.insert(open_.back());
                open_.pop_back();
            }
            copy(1);
            return;
        case '&':
            if (in_class_ && rest_.starts_with("&&")) {
                refuse("&& in a class");
            }
            copy(1);
            return;
        default: copy(1);
        }
    }
    void open_class()
    {
        if (in_class_) {
            refuse("[ in a class");
        }
        in_class_ = true;
        copy(1);
        if (rest_.starts_with('^')) {
            copy(1);
        }
        if (rest_.starts_with(']')) {
            refuse("[]");
        }
    }
    void open_group()
    {
        static constexpr std::array<std::string_view, 7> known{"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:"};
        if (!in_class_ && (rest_.starts_with("(?") || rest_.starts_with("(*"))) {
            const auto* const group =
                std::find_if(known.begin(), known.end(), [&](std::string_view each) { return rest_.starts_with(each); });
            if (group == known.end()) {
                refuse(rest_.substr(0, 3));
            }
            open_.push_back(no_capture);
            copy(group->size());
            return;
        }
        if (!in_class_) {
            open_.push_back(++captures_);
        }
        copy(1);
    }
    /// \1 to \9, behind the group of that number.
    bool refers_back(char c) const
    {
        const bool more_digits = rest_.size() > 2 && rest_[2] >= '0' && rest_[2] <= '9';
        return !in_class_ && c >= '1' && c <= '9' && !more_digits && closed_.contains(c - '0');
    }
    /// {n}, {n,}, {n,m}: one without its first number, a possessive or a lazy one means something else in each.
    void interval()
    {
        if (in_class_) {
            copy(1);
            return;
        }
        const std::size_t end = rest_.find('}');
        const std::string_view whole = rest_.substr(0, end == std::string_view::npos ? end : end + 1);
        const std::string_view numbers = whole.size() < 3 ? "" : whole.substr(1, whole.size() - 2);
        if (numbers.empty() || numbers.front() == ',' || numbers.find_first_not_of("0123456789,") != std::string_view::npos) {
            refuse(whole.substr(0, 12));
        }
        copy(whole.size());
        if (rest_.starts_with('+') || rest_.starts_with('?')) {
            refuse(std::string(whole) + rest_.front());
        }
    }
    void replace(std::size_t bytes, std::string_view inside, bool negated = false)
    {
        rest_.remove_prefix(bytes);
        if (in_class_) {
            out_ += inside;
        } else {
            out_ += negated ? "[^" : "[";
            out_ += inside;
            out_ += ']';
        }
    }
    void word(bool negated)
    {
        replace(2, std::string(word_characters) + std::string(in_class_ ? "" : word_characters_outside), negated);
    }
    void escape()
    {
        const char c = rest_.size() > 1 ? rest_[1] : '\0';
        switch (c) {
        case 's': replace(2, white_space); return;
        case 'S': replace(2, no_white_space); return;
        case 'w': word(false); return;
        case 'W':
            if (in_class_) {
                refuse("\\W in a class");
            }
            word(true);
            return;
        case 'p':
        case 'P': property(); return;
        case 'u': code_point(rest_.substr(0, 6), 2); return;
        case 'x': code_point(rest_.substr(0, rest_.find('}') == std::string_view::npos ? 0 : rest_.find('}') + 1), 3); return;
        case 'v':
            out_ += "\\x{B}";
            rest_.remove_prefix(2);
            return;
        default: break;
        }
        static constexpr std::string_view plain = "rntfdD";
        const bool mark = c > ' ' && c < 0x7F && std::string_view("_").find(c) == std::string_view::npos &&
                          !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
        if (mark || c == ' ' || refers_back(c) || (c != '\0' && plain.find(c) != std::string_view::npos)) {
            copy(2);
            return;
        }
        refuse(rest_.substr(0, c == '\0' ? 2 : 1 + front(rest_.substr(1)).bytes));
    }
    /// A general category as it stands, anything longer as a script.
    void property()
    {
        const std::size_t end = rest_.find('}');
        if (!rest_.substr(2).starts_with('{') || end == std::string_view::npos) {
            refuse(rest_.substr(0, 3));
        }
        std::string_view name = rest_.substr(3, end - 3);
        const bool negated = name.starts_with('^');
        name.remove_prefix(negated ? 1 : 0);
        if (name.empty() ||
            name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") != std::string_view::npos) {
            refuse(rest_.substr(0, end + 1));
        }
        out_ += rest_.substr(0, 3);
        out_ += negated ? "^" : "";
        out_ += name.size() > 2 ? "sc:" : "";
        out_ += name;
        out_ += '}';
        rest_.remove_prefix(end + 1);
    }
    /// \uHHHH, \x{H…}: `whole`, whose digits begin at `from`. (\xHH is a byte in Oniguruma.)
    void code_point(std::string_view whole, std::size_t from)
    {
        const bool braces = whole.ends_with('}') && whole.substr(0, from).ends_with('{');
        const std::string_view digits =
            whole.size() <= from ? "" : whole.substr(from, whole.size() - from - (braces ? 1U : 0U));
        if (digits.empty() || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos ||
            (!braces && digits.size() != 4)) {
            refuse(rest_.substr(0, 6));
        }
        out_ += "\\x{";
        out_ += digits;
        out_ += '}';
        rest_.remove_prefix(whole.size());
    }

    std::string_view pattern_;
    std::string_view rest_;
    std::string out_;
    bool in_class_ = false;
    static constexpr int no_capture = 0;
    int captures_ = 0;      ///< groups that have a number
    std::vector<int> open_; ///< their numbers
    std::set<int> closed_;
};

} // namespace

std::string pcre2_of(std::string_view pattern)
{
    return Rewriter(pattern).rewritten();
}

// ---- patterns of any kind --------------------------------------------------------------------------------------------------

namespace {

std::vector<Span> literal_matches(std::string_view text, std::string_view literal)
{
    std::vector<Span> found;
    if (literal.empty()) {
        return found;
    }
    for (std::size_t at = text.find(literal); at != std::string_view::npos; at = text.find(literal, at + literal.size())) {
        found.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + literal.size())});
    }
    return found;
}

std::vector<Span> class_matches(std::string_view text, bool (*belongs)(std::int32_t))
{
    std::vector<Span> found;
    each_character(text, {0, static_cast<std::uint32_t>(text.size())}, [&](std::int32_t c, Span span) {
        if (belongs(c)) {
            found.push_back(span);
        }
    });
    return found;
}

} // namespace

Matcher::Matcher(Pattern pattern) : pattern_(std::move(pattern))
{
    if (pattern_.kind == Pattern::Kind::regex) {
        regex_.emplace(pattern_.text);
    }
}

std::vector<Span> Matcher::matches(std::string_view text, Budget& budget) const
{
    budget.spend(text.size());
    switch (pattern_.kind) {
    case Pattern::Kind::regex: return regex_->matches(text, budget);
    case Pattern::Kind::white_space: return class_matches(text, is_white_space);
    case Pattern::Kind::punctuation: return class_matches(text, is_punctuation);
    case Pattern::Kind::numeric: return class_matches(text, is_numeric);
    case Pattern::Kind::literal: break;
    }
    return literal_matches(text, pattern_.text);
}

} // namespace attn::text
