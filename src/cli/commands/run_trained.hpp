// run --model: a sentence through a whole trained model.
#pragma once

#include "cli/options/command.hpp"
#include "cli/options/run_options.hpp"

namespace attn::cli {

/// The sentence of the options, of standard input, or each line; gives the exit code.
[[nodiscard]] int run_trained(const TypedArguments& operands, const RunOptions& typed, const Globals& globals, Log& log);

} // namespace attn::cli
