// A command as data: what --help prints, what CLI11 parses and what runs it.
#pragma once

#include "attn/model/run.hpp"
#include "cli/log.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {

struct OptionSpec {
    std::string_view name;     ///< "--heads", "-o"
    std::string_view value;    ///< what its value is called; empty: a flag
    std::string_view text;     ///< one sentence
    std::string_view shortcut; ///< "-h"
};

struct OptionGroup {
    std::string_view title;
    std::span<const OptionSpec> options;
};

struct Example {
    std::string_view command;
    std::string_view meaning;
};

/// What the user typed for a command, as text; every option at most once.
struct Arguments {
    std::map<std::string, std::string, std::less<>> values;
    std::set<std::string, std::less<>> flags;
    std::vector<std::string> operands; ///< what is no option, in order
    std::size_t after_dashes = 0;      ///< of them, the last ones: what came after "--"

    [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
    [[nodiscard]] bool flag(std::string_view option) const { return flags.contains(option); }
};

/// The options that every command has, understood.
struct Globals {
    int threads = 1;
    std::optional<core::Isa> isa; ///< none: whatever suits the command
};

struct Command {
    std::string_view name;
    std::string_view operands; ///< "[SENTENCE]"
    std::string_view summary;
    std::span<const Example> examples;
    std::span<const OptionGroup> (*groups)();
    std::string_view notes; ///< after the options; lines as they are to stand there
    int (*execute)(const Arguments&, const Globals&, Log&);
};

extern const Command run_command;
extern const Command attend_command;
extern const Command explain_command;
extern const Command check_command;
extern const Command compare_command;
extern const Command plot_command;
extern const Command recipe_command;
extern const Command bench_command;
extern const Command schema_command;

/// In the order of --help.
[[nodiscard]] std::span<const Command* const> commands();
[[nodiscard]] const OptionGroup& global_options();

/// "–heads" or "—heads", as a word processor turns "--heads" into.
[[nodiscard]] bool begins_with_typographic_dash(std::string_view word);

/// Throws Error(usage) for operand number `most` and those after it, with the hint or one that fits better.
void expect_at_most(const Arguments& arguments, std::size_t most, std::string_view hint);

} // namespace attn::cli
