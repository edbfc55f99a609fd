// What one might type after `run`.
#pragma once

#include "attn/model/trained/layered_result.hpp"
#include "cli/options/command.hpp"

#include <string>
#include <vector>

namespace attn::cli {

/// `text` as a shell takes it for one word and changes nothing.
[[nodiscard]] std::string shell_word(const std::string& text);

/// Commands over the same input with the same parameters and attention, ready to be typed: `explain` of the strongest cell, and
/// the page. `typed` is what `run` was given. Nothing where the input cannot be typed again, or a command takes over `most`
/// columns.
[[nodiscard]] std::vector<std::string> next_commands(const Operands& typed, const model::Result& result, Index most);

/// The same of a whole trained model: of a summary the head that looks at the previous word most, of weights `explain` of the
/// strongest cell; and the page.
[[nodiscard]] std::vector<std::string> next_commands(const Operands& typed, const model::LayeredResult& result, Index most);

} // namespace attn::cli
