#include "cli/command_line.hpp"

#include "attn/tensor/error.hpp"
#include "cli/exit_code.hpp"
#include "cli/help.hpp"
#include "cli/numbers.hpp"
#include "cli/option_values.hpp"
#include "cli/stdout.hpp"
#include "cli/suggest.hpp"
#include "cli/system.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>

#include <unistd.h>

namespace attn::cli {
namespace {

constexpr std::array global_specs{
    OptionSpec{"--help", "", "print this help", "-h"},
    OptionSpec{"--version", "", "print version, compiler, Eigen and instruction set", "-V"},
    OptionSpec{"--verbose", "", "log each stage with its shape and time to stderr", {}},
    OptionSpec{"--quiet", "", "no warnings and no progress on stderr", {}},
    OptionSpec{"--color", "WHEN", "of messages and weights: auto (default; NO_COLOR, TERM=dumb: never), always, never", {}},
    OptionSpec{"--threads", "N", "1 to 1024 (default: the processors available); never changes a number", {}},
    OptionSpec{"--isa",
               "SET",
               "instructions of float32 attention: portable, avx2, avx512, or auto (default): the fastest of this machine, but "
               "for run portable, the only one that gives the same bytes on every machine",
               {}},
};
constexpr OptionGroup globals_group{"Global options, before or after the command", global_specs};

/// What people type out of habit with other tools.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> habits{
    {{"-v", "--verbose"}, {"-q", "--quiet"}, {"--output", "-o"}, {"--out", "-o"}}};

/// CLI11 ends a subcommand at "++" without a word; a sentence may be just that.
constexpr std::string_view plus_plus = "++";
constexpr std::string_view disguised_plus_plus = "\x01\x02++";

template <typename Visit>
void for_each_option(const Command& command, Visit visit)
{
    for (const OptionSpec& option : global_specs) {
        visit(option);
    }
    for (const OptionGroup& group : command.groups()) {
        std::ranges::for_each(group.options, visit);
    }
}

bool is_called(const OptionSpec& option, std::string_view name)
{
    return !name.empty() && (option.name == name || option.shortcut == name);
}

/// An option that `command` has, or without a command a global one.
const OptionSpec* find_option(const Command* command, std::string_view name)
{
    const OptionSpec* found = nullptr;
    const auto look = [&](const OptionSpec& option) { found = is_called(option, name) ? &option : found; };
    if (command == nullptr) {
        std::ranges::for_each(global_specs, look);
    } else {
        for_each_option(*command, look);
    }
    return found;
}

const Command* find_command(std::string_view name)
{
    const auto found = std::ranges::find(commands(), name, &Command::name);
    return found == commands().end() ? nullptr : *found;
}

// ---- before CLI11 ----------------------------------------------------------------------------------------------------

struct Words {
    std::vector<std::string> parsed; ///< for CLI11
    std::vector<std::string> rest;   ///< after "--": operands, whatever they look like
};

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::vector<std::string_view> every_option()
{
    std::vector<std::string_view> names;
    for (const Command* command : commands()) {
        for_each_option(*command, [&](const OptionSpec& option) { names.push_back(option.name); });
    }
    return names;
}

/// "; did you mean '--heads'?" for "heads", "output" and what is near them.
std::string guess_of(std::string_view letters)
{
    const std::string name = "--" + std::string(letters.substr(0, letters.find('=')));
    for (const auto& [typed, meant] : habits) {
        if (name == typed) {
            return "; did you mean " + attn::quoted(meant) + "?";
        }
    }
    return did_you_mean(name, every_option());
}

/// CLI11 would take "-heads" for -h with more behind it.
[[noreturn]] void refuse_cluster(std::string_view word)
{
    const std::string start = "unknown option " + attn::quoted(word);
    if (word.find(' ') != std::string_view::npos) {
        throw Error(ErrorKind::usage, start + "; a text that begins with a dash goes after --");
    }
    const std::string guess = guess_of(word.substr(1));
    if (!guess.empty()) {
        throw Error(ErrorKind::usage, start + guess);
    }
    const bool attached = std::ranges::any_of(commands(), [&](const Command* command) {
        const OptionSpec* option = find_option(command, word.substr(0, 2));
        return option != nullptr && !option->value.empty();
    });
    throw Error(ErrorKind::usage, start + (attached ? "; the value of " + std::string(word.substr(0, 2)) + " is the next word"
                                                    : "; after one dash there is one letter"));
}

/// Takes out what CLI11 2.1 would misread: "--" (it goes on with the program's options after it), "--name=" (it takes the next
/// word as the value) and "++"; refuses "-heads".
Words prepare(std::span<const char* const> arguments)
{
    Words words;
    const Command* command = nullptr;
    std::string_view awaiting; // the option whose value comes next
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (awaiting.empty() && word == "--") {
            words.rest.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
            break;
        }
        const std::size_t equals = awaiting.empty() && word.starts_with("--") ? word.find('=') : std::string_view::npos;
        const OptionSpec* option = awaiting.empty() ? find_option(command, word.substr(0, equals)) : nullptr;
        command = awaiting.empty() && command == nullptr ? find_command(word) : command;
        if (option != nullptr && equals != std::string_view::npos) {
            if (option->value.empty()) {
                throw Error(ErrorKind::usage, option->name, attn::quoted(word.substr(equals + 1)), "no value, it is a switch");
            }
            words.parsed.emplace_back(option->name);
            words.parsed.emplace_back(word.substr(equals + 1));
            continue;
        }
        const bool cluster = word.size() > 2 && word[0] == '-' && is_letter(word[1]);
        if (awaiting.empty() && cluster) {
            refuse_cluster(word);
        }
        awaiting = option != nullptr && !option->value.empty() ? option->name : std::string_view{};
        words.parsed.emplace_back(word == plus_plus ? disguised_plus_plus : word);
    }
    if (!awaiting.empty() && words.rest.empty()) {
        throw Error(ErrorKind::usage, std::string(awaiting) + ": a value is missing");
    }
    return words;
}

// ---- CLI11 -----------------------------------------------------------------------------------------------------------

/// Only those that are typed: the others would take longer than a short sentence.
void declare(CLI::App& app, const OptionGroup& group, const std::vector<std::string>& words)
{
    for (const OptionSpec& option : group.options) {
        if (std::ranges::none_of(words, [&](const std::string& word) { return is_called(option, word); })) {
            continue;
        }
        const std::string names =
            (option.shortcut.empty() ? "" : std::string(option.shortcut) + ",") + std::string(option.name);
        // Every value stays text here; what was given twice is noticed when it is read.
        CLI::Option* declared =
            option.value.empty() ? app.add_flag(names) : app.add_option(names, [](const CLI::results_t&) { return true; });
        declared->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
}

struct Parsed {
    const Command* command = nullptr;
    Arguments arguments;
    std::vector<std::string> strangers; ///< what CLI11 did not know: operands and unknown options
    std::size_t before_command = 0;     ///< of them
};

void collect(Arguments& arguments, const CLI::App& app, const OptionSpec& option)
{
    const CLI::Option* given = app.get_option_no_throw(std::string(option.name));
    const std::size_t count = given == nullptr ? 0 : given->count(); // what is not typed is not declared
    if (count > 1) {
        throw Error(ErrorKind::usage, std::string(option.name) + ": given more than once");
    }
    if (count == 1 && option.value.empty()) {
        arguments.flags.emplace(option.name);
    } else if (count == 1) {
        const std::string& text = given->results().front();
        arguments.values.emplace(option.name, text == disguised_plus_plus ? plus_plus : text);
    }
}

Parsed parse(std::vector<std::string> words)
{
    Parsed parsed;
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    app.require_subcommand(0, 1);
    declare(app, globals_group, words);
    for (const Command* command : commands()) {
        CLI::App* sub = app.add_subcommand(std::string(command->name));
        sub->fallthrough();
        sub->preparse_callback([&, command](std::size_t) {
            parsed.command = command;
            parsed.before_command = app.remaining().size();
        });
        for (const OptionGroup& group : command->groups()) {
            declare(*sub, group, words);
        }
    }
    std::ranges::reverse(words); // CLI11 takes them from the back
    app.parse(std::move(words));

    for (const OptionSpec& option : global_specs) {
        collect(parsed.arguments, app, option);
    }
    if (parsed.command != nullptr) {
        const CLI::App* sub = app.get_subcommand(std::string(parsed.command->name));
        for (const OptionGroup& group : parsed.command->groups()) {
            std::ranges::for_each(group.options, [&](const OptionSpec& option) { collect(parsed.arguments, *sub, option); });
        }
    }
    parsed.strangers = app.remaining();
    std::ranges::replace(parsed.strangers, std::string(disguised_plus_plus), std::string(plus_plus));
    return parsed;
}

// ---- after CLI11 -----------------------------------------------------------------------------------------------------

bool looks_like_option(std::string_view word)
{
    return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

[[noreturn]] void unknown_option(const std::string& word, const Command* command)
{
    const std::string name = word.substr(0, word.find('='));
    const std::string start = "unknown option " + attn::quoted(name);
    for (const auto& [typed, meant] : habits) {
        if (name == typed) {
            throw Error(ErrorKind::usage, start + "; did you mean " + attn::quoted(meant) + "?");
        }
    }
    const auto has_it = [&](const Command* other) { return find_option(other, name) != nullptr; };
    if (command == nullptr && std::ranges::any_of(commands(), has_it)) {
        throw Error(ErrorKind::usage, start + " before the command; the options of a command come after it");
    }
    std::vector<std::string_view> candidates;
    const auto add = [&](const OptionSpec& option) { candidates.push_back(option.name); };
    if (command != nullptr) {
        for_each_option(*command, add);
    } else {
        std::ranges::for_each(global_specs, add);
    }
    const std::string guess = did_you_mean(name, candidates);
    const std::string help = "`attn-cli " + (command == nullptr ? "" : std::string(command->name) + " ") + "--help` lists them";
    throw Error(ErrorKind::usage, start + (guess.empty() ? "; " + help + "; after -- everything is text" : guess));
}

[[noreturn]] void unknown_command(const std::string& word)
{
    std::vector<std::string_view> names;
    for (const Command* command : commands()) {
        names.push_back(command->name);
    }
    std::vector<std::string_view> candidates = names;
    candidates.insert(candidates.end(), {"--help", "--version"});
    throw Error(ErrorKind::usage,
                "unknown command " + attn::quoted(word) + "; commands: " + joined(names) + did_you_mean(word, candidates));
}

void refuse_strangers(const Parsed& parsed)
{
    const std::vector<std::string>& strangers = parsed.strangers;
    if (parsed.command == nullptr || parsed.before_command > 0) {
        if (!strangers.empty() && looks_like_option(strangers.front())) {
            unknown_option(strangers.front(), nullptr);
        }
        if (!strangers.empty()) {
            unknown_command(strangers.front());
        }
    }
    const auto unknown = std::ranges::find_if(strangers, looks_like_option);
    if (unknown != strangers.end()) {
        unknown_option(*unknown, parsed.command);
    }
}

Globals understand(const Arguments& arguments)
{
    const auto threads = arguments.value("--threads");
    return {threads ? static_cast<int>(integer("--threads", *threads, 1, most_threads)) : default_threads(),
            isa_option(arguments)};
}

LogOptions log_options(const Arguments& arguments)
{
    constexpr std::array<std::string_view, 3> names{"auto", "always", "never"};
    const std::optional<std::string> colour = arguments.value("--color");
    const LogOptions options{arguments.flag("--verbose"), arguments.flag("--quiet"),
                             static_cast<Colour>(choice("--color", colour.value_or("auto"), names))};
    if (options.verbose && options.quiet) {
        throw Error(ErrorKind::usage, "--verbose and --quiet exclude each other");
    }
    return options;
}

} // namespace

std::optional<std::string> Arguments::value(std::string_view option) const
{
    const auto found = values.find(option);
    return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::span<const Command* const> commands()
{
    static constexpr std::array all{&run_command,     &attend_command, &explain_command, &plot_command,  &check_command,
                                    &compare_command, &recipe_command, &bench_command,   &schema_command};
    return all;
}

const OptionGroup& global_options()
{
    return globals_group;
}

bool begins_with_typographic_dash(std::string_view word)
{
    constexpr std::array<std::string_view, 4> dashes{"\u2013", "\u2014", "\u2212", "\u2010"};
    return std::ranges::any_of(dashes, [&](std::string_view dash) {
        return word.size() > dash.size() && word.starts_with(dash) && is_letter(word[dash.size()]);
    });
}

void expect_at_most(const Arguments& arguments, std::size_t most, std::string_view hint)
{
    const std::vector<std::string>& operands = arguments.operands;
    if (operands.size() <= most) {
        return;
    }
    const auto typographic = std::ranges::find_if(operands, begins_with_typographic_dash);
    if (typographic != operands.end()) {
        constexpr std::size_t dash_bytes = 3; // of each of them in UTF-8
        throw Error(ErrorKind::usage, "unexpected argument " + attn::quoted(*typographic) +
                                          "; options begin with the ASCII '-'" +
                                          guess_of(std::string_view(*typographic).substr(dash_bytes)));
    }
    const bool text = operands.size() - most <= arguments.after_dashes && operands[most].starts_with('-');
    throw Error(ErrorKind::usage, "unexpected argument " + attn::quoted(operands[most]) + "; " +
                                      (text ? "after -- everything is text, options go before it" : std::string(hint)));
}

int execute(std::span<const char* const> arguments, Log& log)
{
    Words words = prepare(arguments);
    Parsed parsed = parse(std::move(words.parsed));
    log.configure(log_options(parsed.arguments));
    if (parsed.arguments.flag("--version")) {
        print(version(isa_option(parsed.arguments)));
        return success;
    }
    const bool help_command = parsed.strangers.size() == 1 && parsed.strangers.front() == "help" && words.rest.empty() &&
                              (parsed.command == nullptr || parsed.before_command == 1);
    const bool help_option = parsed.arguments.flag("--help") && (parsed.command != nullptr || parsed.strangers.empty());
    if (help_command || help_option) {
        print(parsed.command == nullptr ? help() : help(*parsed.command));
        return success;
    }
    refuse_strangers(parsed);
    const Globals globals = understand(parsed.arguments);
    if (parsed.command == nullptr) {
        const std::string text = short_help();
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
        return exit_code(ErrorKind::usage);
    }
    parsed.arguments.operands = std::move(parsed.strangers);
    parsed.arguments.after_dashes = words.rest.size();
    parsed.arguments.operands.insert(parsed.arguments.operands.end(), words.rest.begin(), words.rest.end());
    return parsed.command->execute(parsed.arguments, globals, log);
}

} // namespace attn::cli
