#include "attn/text/pieces/regex.hpp"

#include "attn/tensor/error.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>

namespace attn::text {
namespace {

constexpr std::size_t longest_pattern = 16384;
constexpr std::uint32_t most_steps = 1'000'000;                 ///< of one match
constexpr std::uint32_t most_depth = 10'000;                    ///< of backtracking within backtracking
constexpr std::uint32_t most_heap = 16 * 1024;                  ///< KiB of one match
constexpr std::size_t first_jit_stack = std::size_t{32} << 10U; ///< bytes
constexpr std::size_t most_jit_stack = std::size_t{1} << 20U;

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
using JitStack = Owned<pcre2_jit_stack, pcre2_jit_stack_free>;

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

PCRE2_SPTR units(std::string_view text)
{
    static constexpr char nothing = 0;
    return reinterpret_cast<PCRE2_SPTR>(text.empty() ? &nothing : text.data());
}

Code compile(std::string_view pattern)
{
    if (pattern.size() > longest_pattern) {
        throw Error(ErrorKind::data, "a regular expression", std::to_string(pattern.size()) + " bytes",
                    "up to " + std::to_string(longest_pattern));
    }
    const std::string rewritten = pcre2_of(pattern);
    const CompileContext context = required(CompileContext(pcre2_compile_context_create(nullptr)));
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    int error = 0;
    std::size_t offset = 0;
    // Oniguruma's ^ and $ stand at every line. A pattern comes from a JSON string, which is well-formed UTF-8.
    Code code(pcre2_compile(units(rewritten), rewritten.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &offset, context.get()));
    if (!code) {
        throw Error(ErrorKind::data, "regular expression " + in_quotes(pattern), message_of(error), "what PCRE2 understands");
    }
    // Without just-in-time compilation, where memory may not be executed, it is interpreted.
    (void)pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
    return code;
}

/// What one walk over a text needs.
struct MatchRun {
    MatchContext context = required(MatchContext(pcre2_match_context_create(nullptr)));
    JitStack stack = JitStack(pcre2_jit_stack_create(first_jit_stack, most_jit_stack, nullptr)); // or none, without it
    MatchData data;

    explicit MatchRun(const pcre2_code* code) : data(required(MatchData(pcre2_match_data_create_from_pattern(code, nullptr))))
    {
        pcre2_set_match_limit(context.get(), most_steps);
        pcre2_set_depth_limit(context.get(), most_depth);
        pcre2_set_heap_limit(context.get(), most_heap);
        pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    }
    int match(const pcre2_code* code, std::string_view text, std::size_t from) const
    {
        const int found = pcre2_match(code, units(text), text.size(), from, PCRE2_NO_UTF_CHECK, data.get(), context.get());
        if (found != PCRE2_ERROR_JIT_STACKLIMIT) {
            return found;
        }
        return pcre2_match(code, units(text), text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data.get(), context.get());
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

std::vector<Span> Regex::matches(std::string_view text) const
{
    const pcre2_code* code = compiled_->code.get();
    const MatchRun matcher(code);
    std::vector<Span> found;
    for (std::size_t from = 0; from < text.size();) {
        const int result = matcher.match(code, text, from);
        if (result == PCRE2_ERROR_NOMATCH) {
            break;
        }
        if (result < 0) {
            throw Error(ErrorKind::data, "regular expression " + in_quotes(pattern_),
                        message_of(result) + " at byte " + std::to_string(from),
                        "expressions that match within a million steps");
        }
        const std::size_t* bounds = pcre2_get_ovector_pointer(matcher.data.get());
        if (bounds[1] > bounds[0]) {
            found.push_back({static_cast<std::uint32_t>(bounds[0]), static_cast<std::uint32_t>(bounds[1])});
            from = bounds[1];
        } else if (bounds[0] < text.size()) {
            from = bounds[0] + front(text.substr(bounds[0])).bytes; // one character on, as Oniguruma's callers do
        } else {
            break;
        }
    }
    return found;
}

} // namespace attn::text
