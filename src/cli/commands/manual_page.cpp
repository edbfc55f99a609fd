// attn-cli manual-page: what --help says as a page for man(1).
#include "attn/report/text/prose.hpp"
#include "cli/help.hpp"
#include "cli/options/command.hpp"
#include "cli/options/suggest.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

constexpr std::array manual_page_examples{
    Example{"attn-cli manual-page run | man -l -", "the page of run, where nothing is installed"},
    Example{"attn-cli manual-page > attn-cli.1", "that of the program"},
};
constexpr std::string_view manual_page_notes =
    "cmake --install puts all pages in their place, and so does the Debian package.\n";

/// As roff shows it: every dash is one that can be copied, and no line begins with a request, wherever it is broken.
std::string escaped(std::string_view text)
{
    std::string roff;
    for (const char c : text) {
        const bool begins_word = roff.empty() || roff.back() == ' ';
        roff.append(begins_word && (c == '.' || c == '\'') ? "\\&" : c == '-' ? "\\" : "");
        roff.append(c == '\\' ? "\\e" : std::string(1, c));
    }
    return roff;
}

/// In short lines, as files of roff have them.
std::string paragraph(std::string_view text)
{
    constexpr Index columns = 60;
    std::string words(text);
    std::ranges::replace(words, '\n', ' ');
    return report::wrapped("", escaped(words), 0, columns);
}

std::string bold(std::string_view text)
{
    return fmt::format("\\fB{}\\fR", escaped(text));
}

std::string italic(std::string_view text)
{
    return fmt::format("\\fI{}\\fR", escaped(text));
}

/// A long list of choices may be broken between two of them.
std::string operands_of(const Command& command)
{
    std::string roff = italic(command.operands);
    for (std::size_t at = 0; (at = roff.find('|', at)) != std::string::npos; at += 3) {
        roff.insert(at + 1, "\\:");
    }
    return roff;
}

/// What stands at the left, and what it means.
std::string item(const std::string& head, std::string_view text)
{
    return fmt::format(".TP\n{}\n{}", head, paragraph(text));
}

std::string describe(const std::vector<ListedOption>& options)
{
    std::string text;
    std::string_view group;
    for (const ListedOption& option : options) {
        if (option.group != group) {
            text += fmt::format(".SS {}\n", escaped(option.group));
            group = option.group;
        }
        std::string head;
        for (const std::string& name : option.names) {
            head += (head.empty() ? "" : ", ") + bold(name);
        }
        text += item(option.symbol.empty() ? head : head + " " + italic(option.symbol), option.meaning);
    }
    return text;
}

std::string describe(std::span<const Example> all)
{
    std::string text = ".SH EXAMPLES\n";
    for (const Example& example : all) {
        text += item(bold(example.command), example.meaning);
    }
    return text;
}

std::string exit_status()
{
    std::string text = ".SH EXIT STATUS\n";
    for (const ExitCode& code : exit_codes) {
        text += item(bold(std::to_string(code.code)), code.meaning);
    }
    return text;
}

/// "attn-cli-run", the name of a command's page.
std::string name_of_page(const Command& command)
{
    return "attn-cli-" + std::string(command.name);
}

std::string see_also(const Command* but)
{
    std::string text = ".SH SEE ALSO\n";
    const auto refer = [&](std::string_view page) { text += fmt::format(".BR {} (1),\n", escaped(page)); };
    if (but != nullptr) {
        refer("attn-cli");
    }
    for (const Command* command : commands()) {
        if (command != but) {
            refer(name_of_page(*command));
        }
    }
    text.erase(text.size() - 2, 1); // the last comma
    return text;
}

/// Up to its description.
std::string head(const std::string& name, std::string_view purpose_of_it)
{
    std::string title = name;
    std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return fmt::format(".TH {} 1 {} \"attn\\-cli {}\"\n.nh\n.SH NAME\n{}.SH SYNOPSIS\n", escaped(title), ATTN_DATE,
                       ATTN_VERSION, paragraph(fmt::format("{} - {}", name, purpose_of_it)));
}

std::string page_of_program()
{
    std::string text = head("attn-cli", purpose) +
                       fmt::format("{} {} [{}]...\n.SH COMMANDS\n", bold("attn-cli"), italic("COMMAND"), italic("OPTION"));
    for (const Command* command : commands()) {
        std::string name = bold(command->name);
        text += item(command->operands.empty() ? name : name + " " + operands_of(*command), command->summary);
    }
    return text + ".SH OPTIONS\n" + describe(global_options()) + describe(overview_examples) + exit_status() +
           see_also(nullptr);
}

std::string page_of(const Command& command)
{
    std::string purpose_of_it(command.summary.substr(0, command.summary.size() - 1)); // a sentence there, a phrase here
    std::string text = head(name_of_page(command), purpose_of_it) +
                       fmt::format("{} [{}]... {}\n.SH DESCRIPTION\n", bold("attn-cli " + std::string(command.name)),
                                   italic("OPTION"), italic(command.operands)) +
                       paragraph(command.summary);
    text += command.notes.empty() ? "" : ".PP\n" + paragraph(command.notes);
    return text + ".SH OPTIONS\n" + describe(options_of(command)) + describe(global_options()) + describe(command.examples) +
           exit_status() + see_also(&command);
}

int execute_manual_page(const TypedArguments& typed, const Globals&, Log&)
{
    expect_at_most(typed, 1, "manual-page takes one command");
    if (typed.words.empty()) {
        print(page_of_program());
        return success;
    }
    print(page_of(*commands()[choice("manual-page", typed.words.front(), names_of(commands(), &Command::name))]));
    return success;
}

} // namespace

constinit const Command manual_page_command{
    .name = "manual-page",
    .operands = "[COMMAND]",
    .summary = "Print the page for man(1) of the program or of a command.",
    .examples = manual_page_examples,
    .notes = manual_page_notes,
    .minor = true,
    .declare = without_options<execute_manual_page>,
};

} // namespace attn::cli
