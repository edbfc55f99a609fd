// A command as data: what --help prints, the options that it declares, and what runs it.
#pragma once

#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/run.hpp"
#include "cli/options/options.hpp"
#include "cli/system/log.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {

struct Example {
    std::string_view command;
    std::string_view meaning;
};

struct TypedOption {
    std::string name;
    std::optional<std::string> value; ///< none: a switch
    std::string group;                ///< in help, or of the key of --set
    std::size_t operands_before = 0;

    /// "--heads", "--set rounding"
    [[nodiscard]] std::string said() const { return name == model::option::set ? name_of_key(value.value_or("")) : name; }
};

/// What is typed that is not an option, in order; and the options once more, for who repeats them.
struct TypedArguments {
    std::vector<std::string> words;
    std::size_t after_dashes = 0; ///< of them, the last ones: what came after "--"
    std::vector<TypedOption> options = {};
};

inline constexpr std::string_view isa_name = "--isa", max_input_bytes_name = "--max-input-bytes";

/// The options that every command has.
struct Globals {
    int threads = 1;
    std::optional<core::Isa> isa; ///< none: the fastest, or what suits the command
    bool fastest_isa = false;     ///< --isa auto
    std::optional<std::size_t> max_input_bytes = {};

    /// For a command whose usual is the same bytes everywhere.
    [[nodiscard]] core::Isa isa_or_portable() const
    {
        return isa.value_or(fastest_isa ? core::best_isa() : core::Isa::portable);
    }
    /// Of a file that is mapped, not read.
    [[nodiscard]] std::size_t most_bytes() const { return max_input_bytes.value_or(std::numeric_limits<std::size_t>::max()); }
};

/// Reads what the options could not know alone, and does the work; gives the exit code.
using Execute = std::function<int(const TypedArguments&, const Globals&, Log&)>;

struct Command {
    std::string_view name;
    std::string_view operands = {}; ///< "[SENTENCE]"
    std::string_view summary;
    std::span<const Example> examples; ///< at most five, of which -h shows the first three
    std::string_view common = {};      ///< the options that -h shows, with blanks between; all when empty
    std::string_view notes = {};       ///< after the options; lines as they are to stand there
    std::string_view page = {};        ///< of the manual, which tells more
    bool minor = false;                ///< lists of commands name it in their last line
    Execute (*declare)(Options&); ///< declares the options, and gives what runs the command by them: it holds what they set
};

/// Command::declare of a command without options of its own.
template <int (*execute)(const TypedArguments&, const Globals&, Log&)>
Execute without_options(Options&)
{
    return execute;
}

/// Command::declare of one whose options `declare` binds to the members of a Bound, which `execute` then gets, filled in.
template <typename Bound, void (*declare)(Options&, Bound&),
          int (*execute)(Bound&, const TypedArguments&, const Globals&, Log&)>
Execute with_options(Options& options)
{
    const auto bound = std::make_shared<Bound>();
    declare(options, *bound);
    return
        [bound](const TypedArguments& typed, const Globals& globals, Log& log) { return execute(*bound, typed, globals, log); };
}

extern const Command run_command;
extern const Command attend_command;
extern const Command explain_command;
extern const Command check_command;
extern const Command compare_command;
extern const Command plot_command;
extern const Command recipe_command;
extern const Command bench_command;
extern const Command schema_command;
extern const Command help_command;
extern const Command manual_page_command;
extern const Command completions_command;

/// In the order of --help.
[[nodiscard]] std::span<const Command* const> commands();
[[nodiscard]] const Command* find_command(std::string_view name); ///< nullptr: there is none

[[nodiscard]] std::vector<ListedOption> options_of(const Command& command);
[[nodiscard]] std::vector<ListedOption> global_options();

/// "–heads" or "—heads", as a word processor turns "--heads" into.
[[nodiscard]] bool begins_with_typographic_dash(std::string_view word);

/// Throws Error(usage) for operand number `most` and those after it, with the hint or one that fits better.
void expect_at_most(const TypedArguments& typed, std::size_t most, std::string_view hint);

} // namespace attn::cli
