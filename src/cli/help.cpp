#include "cli/help.hpp"

#include "attn/report/display.hpp"
#include "attn/report/prose.hpp"
#include "attn/tensor/tensor.hpp" // Eigen's version

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

std::string describe(const OptionSpec& option)
{
    std::string head = "  ";
    head.append(option.shortcut).append(option.shortcut.empty() ? "" : ", ").append(option.name);
    head.append(option.value.empty() ? "" : " ").append(option.value);
    return entry(std::move(head), option.text);
}

std::string describe(const OptionGroup& group)
{
    std::string text = "\n";
    text.append(group.title).append(":\n");
    for (const OptionSpec& option : group.options) {
        text += describe(option);
    }
    return text;
}

std::string describe(std::span<const Example> examples)
{
    std::string text = "Examples:\n";
    for (const Example& example : examples) {
        text.append("  ").append(example.command).append("\n").append(wrapped(std::string(6, ' '), example.meaning, 6));
    }
    return text;
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
    {R"(attn-cli run "Life is short, eat dessert first" --json | jq '.weights[0][2]')", "the same for programs"},
    {"attn-cli check --all", "recompute what the built-in tutorials print, and compare"},
}};

} // namespace

std::string help()
{
    return "attn-cli: scaled dot-product attention on a sentence, down to the digits its\ntutorials print.\n\n" +
           describe(overview_examples) + "\nUsage: attn-cli COMMAND [OPTION]…\n\n" + command_list() +
           describe(global_options()) +
           "\n`attn-cli COMMAND --help` tells more.\n"
           "\nExit codes: 0 done, 1 check or compare found a difference, 2 usage, 65 bad data,\n"
           "66 no such input, 70 our bug, 71 would not fit in memory, 73 cannot create the\n"
           "output, 74 I/O error, 130 interrupted (143 terminated).\n";
}

std::string help(const Command& command)
{
    std::string text = describe(command.examples) + "\nUsage: attn-cli " + std::string(command.name) + " [OPTION]… " +
                       std::string(command.operands) + "\n\n" + wrapped("", command.summary, 0);
    for (const OptionGroup& group : command.groups()) {
        text += describe(group);
    }
    text += describe(global_options());
    return command.notes.empty() ? text : text + "\n" + std::string(command.notes);
}

std::string short_help()
{
    return "Usage: attn-cli COMMAND [OPTION]…\n\n" + command_list() + "\n`attn-cli --help` tells more.\n";
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
