// From argv to a command and its arguments.
#pragma once

#include "cli/options/command.hpp"

#include <span>

namespace attn::cli {

/// Parses `arguments` (without the program's name), runs the command and gives its exit code. Throws Error(usage).
[[nodiscard]] int execute(std::span<const char* const> arguments, Log& log);

} // namespace attn::cli
