// attn-cli recipe: the built-in recipes, and new ones.
#include "attn/io/json/recipe.hpp"

#include "attn/io/builtin.hpp"
#include "attn/tensor/error.hpp"
#include "cli/commands/run.hpp"
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

constexpr std::array recipe_examples{
    Example{"attn-cli run --recipe owen-2025", "run a recipe"},
    Example{"attn-cli recipe owen-2025 > mine.json", "a copy to edit"},
    Example{"attn-cli recipe new \"a b c\" --heads 2 --embed-dim 4 > mine.json", "a new one to edit, all sizes given"},
    Example{"attn-cli run --recipe mine.json", "run the copy"},
};
constexpr std::string_view recipe_common = "--heads --embed-dim --d-k --d-v --causal --seed --init --generator --set -o";
constexpr std::string_view recipe_notes = "The options are for `recipe new`.\n";

std::string title_of_recipe(const io::BuiltinFile& file)
{
    return io::parse_recipe(file.contents).title;
}

int execute_recipe(RunOptions& run, const TypedArguments& typed, const Globals& globals, Log& log)
{
    const std::vector<std::string>& words = typed.words;
    if (words.empty()) {
        throw Error(ErrorKind::usage, "recipe: give list, new or the NAME of a recipe");
    }
    if (words[0] == "new") {
        TypedArguments sentence = typed;
        sentence.words.erase(sentence.words.begin());
        return execute_run(run, sentence, globals, log);
    }
    if (!typed.options.empty()) {
        throw Error(ErrorKind::usage, typed.options.front().said() + " is for recipe new; > FILE saves what recipe prints");
    }
    if (words[0] == "list") {
        expect_at_most(typed, 1, "recipe list takes no argument");
        print(list_of(io::builtin_recipes(), title_of_recipe));
        return success;
    }
    const bool show = words[0] == "show"; // which may stand before the name
    if (!show && words.size() > 1 && !io::find(io::builtin_recipes(), words[0])) {
        (void)choice("recipe", words[0], std::array<std::string_view, 3>{"list", "new", "show"});
    }
    expect_at_most(typed, show ? 2 : 1, "recipe shows one at a time");
    if (words.size() < (show ? 2U : 1U)) {
        throw Error(ErrorKind::usage, "recipe show: a name is missing" + recipe_hint(""));
    }
    print(builtin_recipe(words.back()));
    return success;
}

} // namespace

constinit const Command recipe_command{
    .name = "recipe",
    .operands = "list|NAME|new [SENTENCE]",
    .summary = "List the built-in recipes, print one as JSON, or write a new one (options are for new).",
    .examples = recipe_examples,
    .common = recipe_common,
    .notes = recipe_notes,
    .page = "recipes",
    .declare = with_options<RunOptions, declare_new_recipe, execute_recipe>,
};

} // namespace attn::cli
