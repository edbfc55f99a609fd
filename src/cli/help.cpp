#include "cli/help.hpp"

#include "attn/report/text/display.hpp"
#include "attn/report/text/prose.hpp"
#include "attn/tensor/tensor.hpp" // Eigen's version

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace attn::cli {
namespace {

constexpr Index columns = 80;
constexpr std::size_t text_column = 30; // where the explanation of an option begins

std::size_t width_of(std::string_view text)
{
    return static_cast<std::size_t>(report::display_width(text));
}

std::string wrapped(const std::string& first, std::string_view text, std::size_t indent)
{
    return report::wrapped(first, text, static_cast<Index>(indent), columns);
}

/// A name and its explanation beside it, or below when the name is long.
std::string entry(std::string name, std::string_view text)
{
    const std::size_t width = width_of(name);
    if (width + 2 > text_column) {
        return name + "\n" + wrapped(std::string(text_column, ' '), text, text_column);
    }
    return wrapped(name.append(text_column - width, ' '), text, text_column);
}

/// What an option means, without choices and conditions.
std::string first_phrase(const std::string& text)
{
    return text.substr(0, std::min(text.find(": "), text.find("; ")));
}

/// "-q, --queries FILE[:NAME]" beside what it means.
std::string describe(const CLI::Option& option, bool briefly)
{
    std::string head = "  " + option.get_name(false, true);
    if (const std::size_t negated = head.find("{false}"); negated != std::string::npos) { // CLI11's sign of "--no-…"
        head.resize(negated);
    }
    for (std::size_t comma = head.find(','); comma != std::string::npos; comma = head.find(',', comma + 2)) {
        head.insert(comma + 1, " ");
    }
    const std::string value = option.get_type_name();
    const std::string text = option.get_description();
    return entry(head + (value.empty() ? "" : " ") + value, briefly ? first_phrase(text) : text);
}

/// The options of each group below its title, those that `wanted` names.
template <typename Wanted>
std::string describe(const CLI::App& app, bool briefly, Wanted wanted)
{
    std::string text;
    for (const std::string& group : app.get_groups()) {
        std::string lines;
        for (const CLI::Option* option : app.get_options([&](const CLI::Option* o) { return o->get_group() == group; })) {
            lines += wanted(*option) ? describe(*option, briefly) : "";
        }
        text += lines.empty() ? "" : "\n" + group + ":\n" + lines;
    }
    return text;
}

std::string describe(const CLI::App& app)
{
    return describe(app, false, [](const CLI::Option&) { return true; });
}

std::string describe(std::span<const Example> examples)
{
    std::string text = "Examples:\n";
    for (const Example& example : examples) {
        text.append("  ").append(example.command).append("\n").append(wrapped(std::string(6, ' '), example.meaning, 6));
    }
    return text;
}

std::string usage(const Command& command)
{
    std::string text = "Usage: attn-cli " + std::string(command.name) + " [OPTION]…";
    return text.append(command.operands.empty() ? "" : " ").append(command.operands).append("\n");
}

std::string command_list()
{
    std::string text = "Commands:\n";
    for (const Command* command : commands()) {
        std::string head = "  ";
        head.append(command->name).append(" ").append(command->operands);
        text += entry(std::move(head), command->summary);
    }
    return text;
}

constexpr std::array<Example, 3> overview_examples{{
    {R"(attn-cli run "Life is short, eat dessert first")", "attention on a sentence, step by step"},
    {R"(attn-cli run "Life is short, eat dessert first" --json | jq '.weights[0][2]')",
     "one row of weights (head 0, word 2) for programs"},
    {"attn-cli check --all", "recompute what the built-in tutorials print, and compare"},
}};

} // namespace

std::string help(const CLI::App& app)
{
    return "attn-cli: scaled dot-product attention on a sentence, down to the digits its\ntutorials print.\n\n" +
           describe(overview_examples) + "\nUsage: attn-cli COMMAND [OPTION]…\n\n" + command_list() + describe(app) +
           "\n`attn-cli COMMAND -h` shows the options used most, --help all of them.\n"
           "\nExit codes: 0 done, 1 check or compare found a difference, 2 usage, 65 bad data,\n"
           "66 no such input, 70 internal error, 71 too large, 73 cannot create the\n"
           "output, 74 I/O error, 130 interrupted (143 terminated).\n";
}

std::string help(const Command& command, const CLI::App& app, const CLI::App& global)
{
    std::string text = describe(command.examples) + "\n" + usage(command) + "\n" + wrapped("", command.summary, 0) +
                       describe(app) + describe(global);
    text.append(command.notes.empty() ? "" : "\n").append(command.notes);
    return command.page.empty() ? text : text.append("\nManual: attn-cli help ").append(command.page).append("\n");
}

std::string short_help(const Command& command, const CLI::App& app)
{
    const auto common = [&](const CLI::Option& option) {
        return command.common.empty() ||
               std::ranges::any_of(command.common, [&](std::string_view name) { return option.check_name(std::string(name)); });
    };
    const std::size_t shown = std::min<std::size_t>(command.examples.size(), 3);
    return usage(command) + wrapped("", command.summary, 0) + describe(app, true, common) + "\n" +
           describe(command.examples.first(shown)) + "\n`attn-cli " + std::string(command.name) +
           " --help` shows every option.\n";
}

std::string short_help()
{
    return "Usage: attn-cli COMMAND [OPTION]…\n\n" + command_list() + "\n`attn-cli --help` tells more.\n";
}

std::string list_of(std::span<const io::BuiltinFile> files, std::string (*title)(const io::BuiltinFile&))
{
    std::size_t widest = 0;
    for (const io::BuiltinFile& file : files) {
        widest = std::max(widest, file.name.size());
    }
    std::string text;
    for (const io::BuiltinFile& file : files) {
        std::string name(file.name);
        name.resize(widest + 2, ' ');
        text += name + title(file) + "\n";
    }
    return text;
}

std::string version(std::optional<core::Isa> isa)
{
    const auto dotted = [](auto... numbers) {
        std::string text;
        (text.append(text.empty() ? "" : ".").append(std::to_string(numbers)), ...);
        return text;
    };
    const core::Isa used = isa.value_or(core::best_isa());
#if defined(__clang__)
    const std::string compiler = "Clang " + dotted(__clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    const std::string compiler = "GCC " + dotted(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    return "attn-cli " ATTN_VERSION "\ncompiler: " + compiler +
           "\nEigen: " + dotted(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION) +
           "\ninstruction set: " + std::string(name_of(used)) + (isa || used == core::Isa::portable ? "" : " (run: portable)") +
           "\n";
}

} // namespace attn::cli
