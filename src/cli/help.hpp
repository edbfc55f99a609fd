// --help and --version.
#pragma once

#include "attn/io/builtin.hpp"
#include "cli/options/command.hpp"

#include <array>
#include <string>

namespace attn::cli {

inline constexpr std::string_view purpose =
    "attention on a sentence or tensors, every step shown; articles' numbers to the digit";
inline constexpr std::array<Example, 3> overview_examples{{
    {R"(attn-cli run "Life is short, eat dessert first")", "the weights and context vectors of a sentence"},
    {R"(attn-cli run "Life is short" --json | jq '.weights[0][2][0]')",
     "one weight, in a script: head 0, query word 2, key word 0"},
    {"attn-cli check --all", "check every built-in recipe against its article"},
}};

/// Usage first, then examples; the options of every command are in that of the program alone.
[[nodiscard]] std::string help();
[[nodiscard]] std::string help(const Command& command);
/// At most 40 lines: usage, commands or the options used most, three examples.
[[nodiscard]] std::string short_help();
[[nodiscard]] std::string short_help(const Command& command);
/// A line for each file: its name, and its title in a column.
[[nodiscard]] std::string list_of(std::span<const io::BuiltinFile> files, std::string (*title)(const io::BuiltinFile&));
/// What an option means, without choices and conditions.
[[nodiscard]] std::string first_phrase(const std::string& text);
/// `isa` is what --isa says, none for auto.
[[nodiscard]] std::string version(std::optional<core::Isa> isa);

} // namespace attn::cli
