// --help and --version.
#pragma once

#include "cli/command.hpp"

#include <string>

namespace attn::cli {

[[nodiscard]] std::string help();                       ///< of the program
[[nodiscard]] std::string help(const Command& command); ///< examples first, then the options in groups
[[nodiscard]] std::string short_help();                 ///< for who typed nothing
/// `isa` is what --isa says, none for auto.
[[nodiscard]] std::string version(std::optional<core::Isa> isa);

} // namespace attn::cli
