// --help and --version.
#pragma once

#include "cli/command.hpp"

#include <string>

namespace attn::cli {

[[nodiscard]] std::string help();                       ///< of the program
[[nodiscard]] std::string help(const Command& command); ///< examples first, then the options in groups
[[nodiscard]] std::string short_help();                 ///< for who typed nothing
[[nodiscard]] std::string version();

} // namespace attn::cli
