// --help and --version.
#pragma once

#include "attn/io/builtin.hpp"
#include "cli/options/command.hpp"

#include <string>

namespace attn::cli {

[[nodiscard]] std::string help(const CLI::App& app); ///< of the program, whose global options `app` declares
/// Examples first, then the options in groups.
[[nodiscard]] std::string help(const Command& command, const CLI::App& app, const CLI::App& global);
/// At most 40 lines: usage, the options used most, three examples.
[[nodiscard]] std::string short_help(const Command& command, const CLI::App& app);
[[nodiscard]] std::string short_help(); ///< for who typed nothing
/// A line for each file: its name, and its title in a column.
[[nodiscard]] std::string list_of(std::span<const io::BuiltinFile> files, std::string (*title)(const io::BuiltinFile&));
/// `isa` is what --isa says, none for auto.
[[nodiscard]] std::string version(std::optional<core::Isa> isa);

} // namespace attn::cli
