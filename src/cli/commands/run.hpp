// What `run` does, for commands that do the same and write it otherwise.
#pragma once

#include "cli/options/command.hpp"
#include "cli/options/run_options.hpp"

namespace attn::cli {

int execute_run(RunOptions& options, const TypedArguments& typed, const Globals& globals, Log& log);

} // namespace attn::cli
