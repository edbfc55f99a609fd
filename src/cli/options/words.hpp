// Words on their way through CLI11, which would read "++", "{}" or "[a]" for more than what is typed, "-heads" for -h with more
// behind it, and the word behind "--name=" for its value.
#pragma once

#include <string>
#include <string_view>

namespace attn::cli {

[[nodiscard]] bool is_letter(char c);
/// "-o", "--heads" and "-heads", but not -5.
[[nodiscard]] bool looks_like_option(std::string_view word);

/// A word as CLI11 gets it: commands, "-o" and "--heads" as they are, the value in "--heads=2" marked, and marked as a whole
/// what is neither, which is an operand, or an option that nobody has.
[[nodiscard]] std::string marked(std::string_view word);
/// What was typed for it.
[[nodiscard]] std::string unmarked(std::string word);

} // namespace attn::cli
