#include "attn/text/pieces/regex.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>

namespace attn::text {
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

} // namespace attn::text
