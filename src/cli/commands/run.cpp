// attn-cli run: a sentence in, attention out.
#include "cli/commands/run.hpp"

#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"
#include "cli/commands/run_lines.hpp"
#include "cli/commands/run_model.hpp"
#include "cli/commands/run_recipe.hpp"
#include "cli/commands/run_report.hpp"
#include "cli/output/hints.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/files.hpp"

#include <array>
#include <utility>
#include <vector>

namespace attn::cli {
namespace {

constexpr std::array run_examples{
    Example{R"(attn-cli run "Life is short, eat dessert first")", "the numbers of Raschka's 2023 article"},
    Example{R"(attn-cli run "Life is short" --heads 4 --causal -o page.html)", "a page to explore in a browser"},
    Example{"attn-cli run \"the cat sat and the cat sat\" --model induction", "a summary of every head of a trained model"},
    Example{R"(attn-cli run "Life is short" --heads 4 --json | jq '.weights[3]')", "the fourth head, for programs"},
    Example{"attn-cli run --recipe owen-2025 --show all", "every step of an article"},
};
constexpr std::string_view run_common =
    "--heads --embed-dim --causal --model --seed --recipe --set --lines --query --show --json --digits -o";
constexpr std::string_view run_notes = "Without SENTENCE, or with -, the text is read from standard input. A sentence\n"
                                       "that begins with a dash goes after --.\n";

/// For the page, which adds what it lets change.
std::string command_without_what_if(const TypedArguments& typed)
{
    namespace field = model::field;
    return repeated_command(typed, {option_name(field::causal), "--no-" + option_name(field::causal).substr(2),
                                    option_name(field::scale), option_name(field::hide)});
}

/// Asks the source for what is to be shown, and has the report say and write it.
int run(RunSource& source, RunReport& report, const RunOptions& options, const TypedArguments& typed, const Globals& globals)
{
    const bool entries = source.gives_entries();
    if (!options.runs_model) { // a model has an introduction of its own, and a page without a what-if
        report.format().table.introduced = !options.show.given() && !options.lines && !entries;
        report.format().page.command = options.format == Format::html ? command_without_what_if(typed) : "";
    }
    model::Show asked = options.show.all ? source.everything() : model::Show{};
    asked.insert(options.show.items.begin(), model::Show::end());
    model::RunSettings& settings = source.settings();
    settings.show = source.shown(asked);
    settings.top = options.top;
    settings.threads = globals.threads;
    settings.isa = globals.isa_or_portable();
    if (!options.lines || report.log().verbose()) {
        settings.observer = report.stages().observer();
    }
    if (options.lines) {
        return run_lines({options, source, report});
    }
    report.output().show_progress(report.stages());
    std::vector<model::Result> results = source.results();
    report.say(results, entries);
    source.select(results.front());
    report.write(results, entries);
    if (!entries) {
        report.hint(typed, results.front());
    }
    return success;
}

} // namespace

int execute_run(RunOptions& options, const TypedArguments& typed, const Globals& globals, Log& log)
{
    options.max_input_bytes = globals.max_input_bytes.value_or(options.max_input_bytes);
    finish_run_options(typed, options);
    refuse_documents(options);
    if (options.lines) {
        require_apart(options.output.path, *options.lines);
    }
    if (!options.against.given()) {
        warn_of_other_meaning(typed, "--lines reads a file", log);
        if (options.show.given() && typed.words.size() == 1 && is_shown_name(typed.words.front())) {
            log.warning(in_quotes(typed.words.front()) + " is taken as a sentence; commas separate the names after --show");
        }
    }
    if (options.runs_model) {
        RunReport report(options, globals, log);
        ModelSource source(options);
        return options.against.given() ? source.against(report, globals) : run(source, report, options, typed, globals);
    }
    model::Recipe recipe = make_recipe(options); // which may find the options wrong, before a file is made for -o
    RunReport report(options, globals, log);
    RecipeSource source(options, std::move(recipe), globals, log);
    return options.against.given() ? source.against(report, globals) : run(source, report, options, typed, globals);
}

constinit const Command run_command{
    .name = "run",
    .operands = "[SENTENCE]",
    .summary = "Attention on a sentence or on standard input, from tokens to context.",
    .examples = run_examples,
    .common = run_common,
    .notes = run_notes,
    .page = "tutorial",
    .declare = with_options<RunOptions, declare_run, execute_run>,
};

} // namespace attn::cli
