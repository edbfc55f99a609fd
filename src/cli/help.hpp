// --help and --version.
#pragma once

#include "cli/options/command.hpp"

#include <string>

namespace attn::cli {

[[nodiscard]] std::string help(const CLI::App& app); ///< of the program, whose global options `app` declares
/// Examples first, then the options in groups.
[[nodiscard]] std::string help(const Command& command, const CLI::App& app, const CLI::App& global);
/// At most 40 lines: usage, the options used most, three examples.
[[nodiscard]] std::string short_help(const Command& command, const CLI::App& app);
[[nodiscard]] std::string short_help(); ///< for who typed nothing
/// `isa` is what --isa says, none for auto.
[[nodiscard]] std::string version(std::optional<core::Isa> isa);

} // namespace attn::cli
