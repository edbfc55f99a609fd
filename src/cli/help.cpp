#include "cli/help.hpp"

#include "attn/report/text/display.hpp"
#include "attn/report/text/prose.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/tensor.hpp" // Eigen's version
#include "cli/system/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace attn::cli {
namespace {

constexpr Index columns = 80;
constexpr std::size_t text_column = 23; // where the explanation of an option begins

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

/// "kind of SVG: heatmap, arcs, lines": the first phrase, and the choices that follow it, if few.
std::string brief_meaning(const ListedOption& option)
{
    const std::string phrase = first_phrase(option.meaning);
    const std::string with_choices =
        phrase + ": " + joined(std::vector<std::string_view>(option.offered.begin(), option.offered.end()));
    return option.meaning.starts_with(with_choices) && with_choices.size() <= 100 && !option.offered.empty() ? with_choices
                                                                                                             : phrase;
}

/// "-q, --queries FILE[:NAME]" beside what it means.
std::string describe(const ListedOption& option, bool briefly)
{
    std::string head;
    for (const std::string& name : option.names) {
        head += (head.empty() ? "  " : ", ") + name;
    }
    return entry(head + (option.symbol.empty() ? "" : " ") + option.symbol, briefly ? brief_meaning(option) : option.meaning);
}

/// The options of each group below its title.
std::string describe(const std::vector<ListedOption>& options, bool briefly = false)
{
    std::string text;
    const std::string* group = nullptr;
    for (const ListedOption& option : options) {
        if (group == nullptr || option.group != *group) {
            text += fmt::format("\n{}:\n", option.group);
        }
        group = &option.group;
        text += describe(option, briefly);
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

std::string usage(const Command& command)
{
    std::string text = fmt::format("Usage: attn-cli {} [OPTION]…", command.name);
    const bool fits = text.size() + command.operands.size() < 80;
    return text.append(command.operands.empty() ? "" : fits ? " " : "\n       ").append(command.operands).append("\n");
}

std::string command_list()
{
    std::string text = "Commands:\n", others;
    for (const Command* command : commands()) {
        if (command->minor) {
            others.append(others.empty() ? "" : ", ").append(command->name);
            continue;
        }
        std::string head = "  ";
        head.append(command->name).append(" ").append(command->operands);
        text += entry(std::move(head), command->summary);
    }
    return text + "  Others: " + others + "\n";
}

std::string list_of_exit_codes()
{
    std::string text;
    for (const ExitCode& code : exit_codes) {
        text += fmt::format("{}{} {}", text.empty() ? "" : "; ", code.code, code.meaning);
    }
    return wrapped("", fmt::format("Exit codes: {}.", text), 0);
}

} // namespace

std::string help()
{
    return "Usage: attn-cli COMMAND [OPTION]…\n\n" + wrapped("", fmt::format("attn-cli: {}.", purpose), 0) + "\n" +
           command_list() + "\n" + describe(overview_examples) + describe(global_options()) +
           "\n`attn-cli COMMAND -h` shows the options used most, --help all of them.\n\n" + list_of_exit_codes();
}

std::string help(const Command& command)
{
    std::string text =
        usage(command) + wrapped("", command.summary, 0) + "\n" + describe(command.examples) + describe(options_of(command));
    text.append("\n").append(command.notes);
    text += "`attn-cli --help` shows the global options, such as --quiet.\n";
    return command.page.empty() ? text : text.append("Manual: attn-cli help ").append(command.page).append("\n");
}

std::string short_help(const Command& command)
{
    std::vector<ListedOption> options = options_of(command);
    std::istringstream words{std::string(command.common)};
    const std::vector<std::string> common{std::istream_iterator<std::string>(words), {}};
    std::erase_if(options, [&](const ListedOption& option) {
        return !command.common.empty() && std::ranges::find_first_of(option.names, common) == option.names.end();
    });
    const std::size_t shown = std::min<std::size_t>(command.examples.size(), 3);
    return usage(command) + wrapped("", command.summary, 0) + describe(options, true) + "\n" +
           describe(command.examples.first(shown)) +
           (options_of(command).empty() ? "" : fmt::format("\n`attn-cli {} --help` shows all its options.\n", command.name));
}

std::string short_help()
{
    return "Usage: attn-cli COMMAND [OPTION]…\n\n" + command_list() + "\n" + describe(overview_examples) +
           "\n`attn-cli COMMAND -h` shows the options used most.\n"
           "`attn-cli --help` and `attn-cli COMMAND --help` show everything.\n\n" +
           list_of_exit_codes();
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

std::string first_phrase(const std::string& text)
{
    const std::string phrase = text.substr(0, std::min(text.find(": "), text.find("; ")));
    const std::size_t open = phrase.rfind('(');
    return open != std::string::npos && phrase.find(')', open) == std::string::npos ? phrase + ')' : phrase;
}

std::string version(std::optional<core::Isa> isa)
{
    const core::Isa used = isa.value_or(core::best_isa());
#if defined(__clang__)
    const std::string compiler = fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    const std::string compiler = fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    return fmt::format("attn-cli {}\ncompiler: {}\nEigen: {}.{}.{}\ninstruction set: {}{}\n", ATTN_VERSION, compiler,
                       EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, name_of(used),
                       isa || used == core::Isa::portable ? "" : " (run: portable)");
}

} // namespace attn::cli
