#include "cli/command_line.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "cli/help.hpp"
#include "cli/options/suggest.hpp"
#include "cli/options/words.hpp"
#include "cli/output/hints.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/system.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>

#include <unistd.h>

namespace attn::cli {
namespace {

constexpr std::string_view help_name = "--help", verbose_name = "--verbose", quiet_name = "--quiet", threads_name = "--threads";

/// What people type out of habit with other tools.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> habits{
    {{"-v", verbose_name},
     {"-q", quiet_name},
     {"--output", model::option::output},
     {"--out", model::option::output},
     {"--save", model::option::output},
     {"--svg", "-o FILE.svg"},
     {"--csv", "--format csv"},
     {"--precision", "--digits"},
     {"--temperature", "--scale"},
     {"--d-model", "--embed-dim"},
     {"--dim", "--embed-dim"},
     {"--embedding-dim", "--embed-dim"},
     {"--embedding-size", "--embed-dim"},
     {"--hidden-size", "--embed-dim"},
     {"--stdin", "-"},
     {"-j", threads_name},
     {"-t", threads_name},
     {"--rope-base", "--positions rope:base=X"},
     {"--rope-dim", "--positions rope:dim=N"},
     {"--rope-style", "--positions rope:style=NAME"}}};

/// What a command has in place of an option of others.
struct Instead {
    std::string_view command, option, instead;
};
constexpr std::array instead_of_options{
    Instead{"attend", "--head",
            "it computes all heads; jq '.data[0][N]' takes one of (B, H, T, d), plot FILE --head N draws one"},
    Instead{"attend", "--csv", "-o writes .npy, .npz, .safetensors and JSON"},
    Instead{"explain", "--csv", "run --format csv writes numbers"},
    Instead{"plot", "--csv", "run --format csv writes numbers"},
};

struct GlobalOptions {
    bool help = false, short_help = false, version = false;
    LogOptions log;
    Globals globals{.threads = default_threads(), .isa = {}, .fastest_isa = false};
};

/// None for auto. Throws Error(usage) for what this machine does not have, naming what it has.
std::optional<core::Isa> isa_named(const std::string& name)
{
    if (name == "auto") {
        return std::nullopt;
    }
    const std::vector<core::Isa> available = core::available_isas();
    std::vector<std::string_view> names = names_of(available, [](core::Isa isa) { return core::name_of(isa); });
    names.emplace_back("auto");
    if (std::ranges::find(core::isa_names, name) != core::isa_names.end() && std::ranges::find(names, name) == names.end()) {
        throw Error(ErrorKind::usage, fmt::format("{}: this machine has no {}; allowed: {}", isa_name, name, joined(names)));
    }
    return available.at(choice(isa_name, name, names));
}

void declare_globals(Options& options, GlobalOptions& global)
{
    options.group("Global options, before or after the command");
    options.add(switch_option("-h", "show the short help"), global.short_help);
    options.add(switch_option(help_name, "show all options"), global.help);
    options.add(switch_option("-V,--version", "show version, compiler, Eigen and instruction set"), global.version);
    options.add(switch_option(verbose_name, "log each stage with its shape and time to stderr"), global.log.verbose);
    options.add(switch_option(quiet_name, "show no warnings and no progress"), global.log.quiet);
    options.add({"--color", "WHEN", "colour messages and weights; auto: on a terminal, unless NO_COLOR or TERM=dumb is set",
                 "auto", model::allow::one_of(colour_names)},
                global.log.colour);
    options.add({threads_name, "N", "number of threads; results do not depend on it", "all processors",
                 model::allow::integer(1, most_threads)},
                global.globals.threads);
    options.add({isa_name, "SET",
                 "instruction set for float32: portable, avx2, avx512, or auto, the fastest here; only portable gives the same "
                 "bytes on every machine",
                 "auto; run, check and explain portable", model::allow::text, "auto, portable, avx2, avx512"},
                [&](const model::FieldValue& name) {
                    global.globals.isa = isa_named(std::get<std::string>(name));
                    global.globals.fastest_isa = !global.globals.isa;
                });
    options.add({max_input_bytes_name, "N", "refuse a longer text, text file or line",
                 "67108864; check 1073741824; compare, plot, attend no limit", model::allow::integer(1, Index{1} << 40U)},
                global.globals.max_input_bytes);
    options.exclude({verbose_name, quiet_name});
}

// ---- what is declared ------------------------------------------------------------------------------------------------

bool takes_value(const CLI::Option& option)
{
    return option.get_expected_max() > 0;
}

/// The program's options, and those of one command.
struct Declared {
    CLI::App app;
    CLI::App* command_app = nullptr;
    const Command* command = nullptr;
    Execute execute;
    std::shared_ptr<const SetKeys> keys = std::make_shared<SetKeys>(); ///< of --set
    GlobalOptions globals;
    const CLI::Option* operands = nullptr; ///< the command's, as CLI11 finds them
    std::size_t before_command = 0;        ///< words that are nothing known there

    /// `words`: what may be names among what is typed. Only the commands among them are known; once CLI11 meets one, its
    /// options are declared.
    explicit Declared(const std::vector<std::string_view>* words = nullptr)
    {
        app.set_help_flag();
        app.require_subcommand(0, 1);
        app.fallthrough();
        app.allow_extras();
        Options options(app);
        declare_globals(options, globals);
        for (const Command* each : commands()) {
            if (words == nullptr || std::ranges::find(*words, each->name) != words->end()) {
                app.add_subcommand(std::string(each->name))->preparse_callback([=, this](std::size_t) {
                    before_command = app.remaining_size();
                    declare(*each, words);
                    operands = command_app->add_option("words", CLI::callback_t())
                                   ->expected(-1)
                                   ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
                });
            }
        }
    }

    /// One command and, of its options, those among `words`; without `words`, all, which takes longer than a short sentence
    /// does.
    void declare(const Command& typed, const std::vector<std::string_view>* words = nullptr)
    {
        command = &typed;
        command_app = app.get_subcommand(std::string(typed.name));
        Options options(*command_app, words);
        execute = typed.declare(options);
        keys = options.keys();
        if (options.incomplete()) {
            std::ranges::for_each(command_app->get_options(), [&](CLI::Option* each) { command_app->remove_option(each); });
            declare(typed);
        }
    }

    [[nodiscard]] const CLI::Option* find(std::string_view name) const
    {
        const std::string wanted(name);
        const CLI::Option* own = command_app == nullptr ? nullptr : command_app->get_option_no_throw(wanted);
        return own != nullptr ? own : std::as_const(app).get_option_no_throw(wanted);
    }

    /// "--heads", "-o", …
    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> all;
        for (const CLI::App* part : {&app, static_cast<const CLI::App*>(command_app)}) {
            for (const CLI::Option* option : part == nullptr ? std::vector<const CLI::Option*>() : part->get_options()) {
                all.push_back(option->get_name());
            }
        }
        return all;
    }

    /// What CLI11 knows no meaning of: everything where there is no command, and else the options that the command has not.
    [[nodiscard]] std::vector<std::string> unknown() const
    {
        std::vector<std::string> words = app.remaining();
        std::ranges::transform(words, words.begin(), unmarked);
        return words;
    }
};

/// Of every command: for what stands where no command is known, or may have been meant for another one.
std::vector<Declared> every_command()
{
    std::vector<Declared> all(commands().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].declare(*commands()[i]);
    }
    return all;
}

std::string nearest(std::string_view name, const std::vector<std::string>& names)
{
    const std::vector<std::string_view> views(names.begin(), names.end());
    return attn::did_you_mean(name, views);
}

/// Only an option that the command has, if there is one.
std::string meant_by_habit(std::string_view name, const Declared* command = nullptr)
{
    const auto habit = std::ranges::find(habits, name, &decltype(habits)::value_type::first);
    if (habit == habits.end()) {
        return "";
    }
    const std::string meant(habit->second.substr(0, habit->second.find(' ')));
    const bool lacks_it = command != nullptr && meant.starts_with('-') && meant != "-" && command->find(meant) == nullptr;
    return lacks_it ? "" : fmt::format("; did you mean {}?", in_quotes(habit->second));
}

/// "; did you mean '--heads'?" for "heads", "output" and what is near them.
std::string guess_of(std::string_view letters)
{
    const std::string name = "--" + std::string(letters.substr(0, letters.find('=')));
    if (std::string meant = meant_by_habit(name); !meant.empty()) {
        return meant;
    }
    std::vector<std::string> names;
    for (const Declared& declared : every_command()) {
        std::ranges::copy(declared.names(), std::back_inserter(names));
    }
    return nearest(name, names);
}

/// "-heads"
[[noreturn]] void refuse_cluster(std::string_view word)
{
    const std::string start = "unknown option " + in_quotes(word);
    if (word.find(' ') != std::string_view::npos) {
        throw Error(ErrorKind::usage, start + "; a sentence that begins with a dash goes after --");
    }
    const std::string guess = word[2] == '=' ? "" : guess_of(word.substr(1));
    if (!guess.empty()) {
        throw Error(ErrorKind::usage, start + guess);
    }
    const std::string_view letter = word.substr(0, 2);
    const bool attached = std::ranges::any_of(every_command(), [&](const Declared& declared) {
        const CLI::Option* option = declared.find(letter);
        return option != nullptr && takes_value(*option);
    });
    const std::string value(word.substr(word[2] == '=' ? 3 : 2));
    throw Error(ErrorKind::usage,
                start + (attached ? fmt::format("; the value of {0} is the next word: {0} {1}", letter, shell_word(value))
                                  : "; a sentence that begins with a dash goes after --"));
}

void refuse_clusters(const std::vector<std::string>& unknown)
{
    for (const std::string& word : unknown) {
        if (word.size() > 2 && word[0] == '-' && is_letter(word[1])) {
            refuse_cluster(word);
        }
    }
}

// ---- CLI11 -----------------------------------------------------------------------------------------------------------

/// CLI11's own errors in our words.
[[noreturn]] void rethrow(const CLI::ParseError& error)
{
    std::string message = error.what();
    const auto reword = [&](std::string_view theirs, std::string_view before, std::string_view after) {
        if (const std::size_t at = message.find(theirs); at != std::string::npos) {
            message.replace(at, theirs.size(), before).append(after);
        }
    };
    reword(" excludes ", " and ", " cannot be used together");
    throw Error(ErrorKind::usage, message);
}

/// Of the last word that CLI11 read: a switch with a value, or an option whose value is missing.
[[noreturn]] void refuse_value(const std::string& word)
{
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
        throw Error(ErrorKind::usage, word + ": a value is missing");
    }
    throw Error(ErrorKind::usage, word.substr(0, equals), in_quotes(word.substr(equals + 1)), "no value, it is a switch");
}

/// Leaves in `words`, which stand from the back, what is not read. "-heads" is told before what else is wrong.
void read(std::vector<std::string>& words, Declared& declared)
{
    try {
        declared.app.parse(words);
    } catch (...) {
        refuse_clusters(declared.unknown());
        throw;
    }
    refuse_clusters(declared.unknown());
}

/// False: a value is missing at the end, and there is `more` that may be it.
bool parse(std::span<const std::string> typed, bool more, Declared& declared)
{
    std::vector<std::string> words;
    std::transform(typed.rbegin(), typed.rend(), std::back_inserter(words), marked);
    try {
        read(words, declared);
    } catch (const CLI::ArgumentMismatch&) {
        const std::string& last = typed[typed.size() - words.size() - 1];
        if (more && words.empty() && last.find('=') == std::string::npos) {
            return false;
        }
        refuse_value(last);
    } catch (const CLI::ParseError& error) {
        rethrow(error);
    }
    return true;
}

// ---- after CLI11 -----------------------------------------------------------------------------------------------------

/// What CLI11 has read behind the command, in the order in which it is typed, and the text behind "--".
TypedArguments typed_arguments(const Declared& declared, std::span<const std::string> text)
{
    TypedArguments typed;
    std::vector<std::string>& words = typed.words;
    std::map<const CLI::Option*, std::size_t> read; // of each option so many values
    for (const CLI::Option* option : declared.command_app->parse_order()) {
        if (option == declared.operands) {
            words.push_back(unmarked(option->results()[words.size()]));
            continue;
        }
        const std::string& value = option->results()[read[option]++]; // of a switch "true", or "false" of "--no-…"
        const bool is_switch = !takes_value(*option);
        const std::string name = option->get_name();
        const SetKey* key = name == model::option::set ? declared.keys->find(unmarked(value)) : nullptr;
        typed.options.push_back({is_switch && value == "false" ? "--no-" + name.substr(2) : name,
                                 is_switch ? std::nullopt : std::optional(unmarked(value)),
                                 key != nullptr ? key->group : option->get_group(), words.size()});
    }
    words.insert(words.end(), text.begin(), text.end());
    typed.after_dashes = text.size();
    return typed;
}

/// "run and plot have it" for "--head" of attend; empty: none has.
std::string commands_with(const std::string& option)
{
    std::vector<std::string_view> names;
    for (const Declared& declared : every_command()) {
        if (declared.find(option) != nullptr) {
            names.push_back(declared.command->name);
        }
    }
    if (names.size() < 2) {
        return names.empty() ? "" : std::string(names.front()) + " has it";
    }
    const std::string_view last = names.back();
    names.pop_back();
    return fmt::format("{} and {} have it", joined(names), last);
}

[[noreturn]] void unknown_option(const std::string& word, const Declared& declared, bool before_command)
{
    const std::string name = word.substr(0, word.find('='));
    const std::string start = "unknown option " + in_quotes(name);
    if (const std::string meant = meant_by_habit(name); before_command && !meant.empty()) {
        throw Error(ErrorKind::usage, start + meant);
    }
    const auto has_it = [&](const Declared& other) { return other.find(name) != nullptr; };
    if (before_command && std::ranges::any_of(every_command(), has_it)) {
        throw Error(ErrorKind::usage, start + " before the command; the options of a command come after it");
    }
    Declared whole;
    if (!before_command) {
        whole.declare(*declared.command);
    }
    const auto own = [&](const Instead& each) {
        return !before_command && each.command == declared.command->name && each.option == name;
    };
    const auto known = std::ranges::find_if(instead_of_options, own);
    const std::string meant = meant_by_habit(name, &whole);
    if (known == instead_of_options.end() && !meant.empty()) {
        throw Error(ErrorKind::usage, start + meant);
    }
    const std::string typed = word.size() > name.size() ? word.substr(name.size() + 1) : "";
    if (const std::string instead = whole.keys->instead_of(name, typed); !instead.empty()) {
        throw Error(ErrorKind::usage, instead);
    }
    const std::string others = known != instead_of_options.end() ? std::string(known->instead)
                               : before_command                  ? ""
                                                                 : commands_with(name);
    if (!others.empty()) {
        throw Error(ErrorKind::usage, fmt::format("{} has no option {}; {}", declared.command->name, in_quotes(name), others));
    }
    const std::string guess = nearest(name, whole.names());
    const std::string command = before_command ? "" : std::string(declared.command->name) + " ";
    throw Error(ErrorKind::usage,
                start + (guess.empty()
                             ? fmt::format("; `attn-cli {}--help` lists the options; after -- nothing is an option", command)
                             : guess));
}

[[noreturn]] void unknown_command(const std::string& word)
{
    if (word.find(' ') != std::string::npos) {
        throw Error(ErrorKind::usage, fmt::format("unknown command {}; a sentence goes after `run`: attn-cli run {}",
                                                  in_quotes(word), word.size() < 60 ? shell_word(word) : "\"…\""));
    }
    const std::vector<std::string_view> names = names_of(commands(), &Command::name);
    std::vector<std::string_view> candidates = names;
    candidates.insert(candidates.end(), {help_name, "--version"});
    throw Error(ErrorKind::usage, fmt::format("unknown command {}; commands: {}{}", in_quotes(word), joined(names),
                                              did_you_mean(word, candidates)));
}

void refuse_unknown(const std::vector<std::string>& unknown, const Declared& declared)
{
    if (unknown.empty()) {
        return;
    }
    const bool before_command = declared.command == nullptr || declared.before_command > 0;
    if (looks_like_option(unknown.front())) {
        unknown_option(unknown.front(), declared, before_command);
    }
    unknown_command(unknown.front());
}

} // namespace

std::span<const Command* const> commands()
{
    static constexpr std::array all{&run_command,     &explain_command, &attend_command,      &check_command,
                                    &compare_command, &plot_command,    &recipe_command,      &help_command,
                                    &bench_command,   &schema_command,  &manual_page_command, &completions_command};
    return all;
}

const Command* find_command(std::string_view name)
{
    const auto found = std::ranges::find(commands(), name, &Command::name);
    return found == commands().end() ? nullptr : *found;
}

std::vector<ListedOption> options_of(const Command& command)
{
    std::vector<ListedOption> listed;
    Options options(listed);
    (void)command.declare(options);
    // A command may come back to a group.
    std::vector<std::string> groups;
    std::ranges::transform(listed, std::back_inserter(groups), &ListedOption::group);
    std::ranges::stable_sort(listed, {}, [&](const ListedOption& option) { return std::ranges::find(groups, option.group); });
    return listed;
}

std::vector<ListedOption> global_options()
{
    std::vector<ListedOption> listed;
    Options options(listed);
    GlobalOptions ignored;
    declare_globals(options, ignored);
    return listed;
}

bool begins_with_typographic_dash(std::string_view word)
{
    constexpr std::array<std::string_view, 4> dashes{"\u2013", "\u2014", "\u2212", "\u2010"};
    return std::ranges::any_of(dashes, [&](std::string_view dash) {
        return word.size() > dash.size() && word.starts_with(dash) && is_letter(word[dash.size()]);
    });
}

void expect_at_most(const TypedArguments& typed, std::size_t most, std::string_view hint)
{
    const std::vector<std::string>& operands = typed.words;
    if (operands.size() <= most) {
        return;
    }
    const auto typographic = std::ranges::find_if(operands, begins_with_typographic_dash);
    if (typographic != operands.end()) {
        constexpr std::size_t dash_bytes = 3; // of each of them in UTF-8
        throw Error(ErrorKind::usage,
                    fmt::format("unexpected argument {}; options begin with the ASCII '-'{}", in_quotes(*typographic),
                                guess_of(std::string_view(*typographic).substr(dash_bytes))));
    }
    const bool text = operands.size() - most <= typed.after_dashes && operands[most].starts_with('-');
    throw Error(ErrorKind::usage, fmt::format("unexpected argument {}; {}", in_quotes(operands[most]),
                                              text ? "after -- nothing is an option; options go before it" : hint));
}

int execute(std::span<const char* const> arguments, Log& log)
{
    const std::vector<std::string> typed(arguments.begin(), arguments.end());
    std::vector<std::string_view> names; // what might be commands and options
    std::ranges::transform(typed, std::back_inserter(names),
                           [](std::string_view word) { return word.substr(0, word.find('=')); });
    std::optional<Declared> given;
    auto end = typed.begin();
    do { // a first "--" may be the value of the option before it
        end = std::find(given ? end + 1 : end, typed.end(), "--");
        given.emplace(&names);
    } while (!parse({typed.begin(), end}, end != typed.end(), *given));
    const Declared& declared = *given;
    const GlobalOptions& globals = declared.globals;
    const Command* command = declared.command;
    log.configure(globals.log);
    if (globals.version) {
        print(version(globals.globals.isa));
        return success;
    }
    const std::vector<std::string> unknown = declared.unknown();
    const bool asked = globals.help || globals.short_help;
    if (asked && (command != nullptr || unknown.empty())) {
        const bool briefly = globals.short_help;
        print(command == nullptr ? (briefly ? short_help() : help()) : briefly ? short_help(*command) : help(*command));
        return success;
    }
    refuse_unknown(unknown, declared);
    if (command == nullptr) {
        const std::string text = short_help();
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
        return exit_code(ErrorKind::usage);
    }
    return declared.execute(typed_arguments(declared, {end == typed.end() ? end : end + 1, typed.end()}), globals.globals, log);
}

} // namespace attn::cli
