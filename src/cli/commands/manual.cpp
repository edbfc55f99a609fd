// attn-cli help: the pages of the manual, data/manual/*.md, and what --help of a command shows.
#include "attn/io/builtin.hpp"
#include "attn/report/text/prose.hpp"
#include "cli/help.hpp"
#include "cli/options/suggest.hpp"
#include "cli/output/output.hpp"
#include "cli/output/pager.hpp"
#include "cli/system/exit_code.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace attn::cli {
namespace {

constexpr std::array manual_examples{
    Example{"attn-cli help", "the pages of the manual, one per line"},
    Example{"attn-cli help tutorial", "one page, on a terminal through $PAGER"},
    Example{"attn-cli help run", "what attn-cli run --help shows"},
};

/// What is looked for under names of its own.
constexpr std::array<Alias, 6> topics{{{"draws", "recipes"},
                                       {"published", "recipes"},
                                       {"numpy", "recipes"},
                                       {"pytorch", "recipes"},
                                       {"torch", "recipes"},
                                       {"embeddings", "models"}}};

/// The first line of a page, without its "# ".
std::string title_of_page(const io::BuiltinFile& page)
{
    return std::string(page.contents.substr(2, page.contents.find('\n') - 2));
}

int execute_help(const TypedArguments& typed, const Globals&, Log&)
{
    expect_at_most(typed, 1, "help takes one topic or command");
    const std::span<const io::BuiltinFile> pages = io::builtin_manual();
    const std::vector<std::string_view> of_commands = names_of(commands(), &Command::name);
    std::vector<std::string_view> names = names_of(pages, &io::BuiltinFile::name);
    names.insert(names.end(), of_commands.begin(), of_commands.end());
    if (typed.words.empty()) {
        print(fmt::format("attn-cli help TOPIC shows a page of the manual:\n\n{}\n"
                          "attn-cli help COMMAND shows all its options:\n\n{}",
                          list_of(pages, title_of_page), report::wrapped("", joined(of_commands), 0, 80)));
        return success;
    }
    const std::size_t chosen = choice("help", typed.words.front(), names, topics);
    if (chosen < pages.size()) {
        print_paged(pages[chosen].contents);
    } else {
        print(help(*commands()[chosen - pages.size()]));
    }
    return success;
}

} // namespace

constinit const Command help_command{
    .name = "help",
    .operands = "[TOPIC|COMMAND]",
    .summary = "List the pages of the manual, show one, or show the options of a command.",
    .examples = manual_examples,
    .declare = without_options<execute_help>,
};

} // namespace attn::cli
