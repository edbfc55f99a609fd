// What one might type after `run`.
#pragma once

#include "attn/model/run/result.hpp"
#include "cli/options/command.hpp"

#include <initializer_list>
#include <string>
#include <vector>

namespace attn::cli {

/// `text` as a shell takes it for one word and changes nothing.
[[nodiscard]] std::string shell_word(const std::string& text);

/// " --heads 4"
[[nodiscard]] std::string as_typed(const TypedOption& option);

/// "attn-cli run …" over the same input, with the rows and heads, the parameters and the attention that `typed` says, but for
/// `without`; empty where the input cannot be typed again, or the command is longer than a page shows.
[[nodiscard]] std::string repeated_command(const TypedArguments& typed, std::initializer_list<std::string> without);

/// Commands over the same input with the same parameters and attention, ready to be typed: `explain` of the strongest cell, and
/// the page; of the summary of a whole trained model the head that looks at the previous word most. `typed` is what `run` was
/// given. Nothing where the input cannot be typed again, or a command takes over `most` columns.
[[nodiscard]] std::vector<std::string> next_commands(const TypedArguments& typed, const model::Result& result, Index most);

} // namespace attn::cli
