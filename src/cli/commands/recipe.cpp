// attn-cli recipe: the built-in recipes.
#include "attn/io/json/recipe.hpp"

#include "attn/io/builtin.hpp"
#include "attn/tensor/error.hpp"
#include "cli/help.hpp"
#include "cli/input/recipes.hpp"
#include "cli/options/command.hpp"
#include "cli/options/suggest.hpp"
#include "cli/output/output.hpp"
#include "cli/system/exit_code.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace attn::cli {
namespace {

constexpr std::array examples{
    Example{"attn-cli recipe list", "their names and titles"},
    Example{"attn-cli recipe owen-2025 > mine.json", "a copy to edit"},
    Example{"attn-cli run --recipe mine.json", "and its result"},
    Example{"attn-cli run \"a b c\" --heads 2 --embed-dim 4 -o mine.recipe.json", "the settings of a run as a recipe"},
};

std::string title_of(const io::BuiltinFile& file)
{
    return io::parse_recipe(file.contents).title;
}

int execute_recipe(const TypedArguments& operands, const Globals&, Log&)
{
    const std::vector<std::string>& words = operands.words;
    if (words.empty()) {
        throw Error(ErrorKind::usage, "recipe: list or the NAME of a recipe is missing");
    }
    if (words[0] == "list") {
        expect_at_most(operands, 1, "recipe list takes no argument");
        print(list_of(io::builtin_recipes(), title_of));
        return success;
    }
    const bool show = words[0] == "show"; // which may stand before the name
    if (!show && words.size() > 1 && !io::find(io::builtin_recipes(), words[0])) {
        (void)choice("recipe", words[0], std::array<std::string_view, 2>{"list", "show"});
    }
    expect_at_most(operands, show ? 2 : 1, "recipe shows one at a time");
    if (words.size() < (show ? 2U : 1U)) {
        throw Error(ErrorKind::usage, "recipe show: a name is missing" + recipe_hint(""));
    }
    print(builtin_recipe(words.back()));
    return success;
}

} // namespace

constinit const Command recipe_command{
    .name = "recipe",
    .operands = "list|NAME",
    .summary = "List the built-in recipes, or print one as it is in data/recipes/.",
    .examples = examples,
    .page = "recipes",
    .declare = without_options<execute_recipe>,
};

} // namespace attn::cli
