// attn-cli run: a sentence in, attention out.
#include "attn/model/run/run.hpp"

#include "attn/model/diagnose/run_against.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/error.hpp"
#include "cli/commands/judged_files.hpp"
#include "cli/commands/run_lines.hpp"
#include "cli/commands/run_report.hpp"
#include "cli/commands/run_trained.hpp"
#include "cli/input/embeddings.hpp"
#include "cli/input/run_input.hpp"
#include "cli/options/run_options.hpp"
#include "cli/output/hints.hpp"
#include "cli/output/page.hpp"
#include "cli/system/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

constexpr std::array examples{
    Example{R"(attn-cli run "Life is short, eat dessert first")", "the table of the 2023 tutorial"},
    Example{R"(attn-cli run "Life is short" --query is --digits 8)", "one row, more digits"},
    Example{"attn-cli run \"the cat sat and the cat sat\" --model induction", "every head of a whole trained model"},
    Example{R"(attn-cli run "Life is short" --heads 4 --causal --json | jq '.weights[3]')", "the fourth head, for programs"},
    Example{"attn-cli run --recipe owen-2025 --show all", "every step of an article"},
    Example{R"(attn-cli run "Life is short" --params gpt2.safetensors --prefix h.0 --heads 12)", "a layer of a trained model"},
    Example{R"(attn-cli run "life is short" --embeddings glove.6B.50d.txt --init identity)", "which words are alike"},
    Example{"attn-cli run --lines sentences.txt --json -o results.json", "one result per line"},
    Example{"attn-cli run --recipe owen-2025 --against mine.npy", "which mistake gives the numbers of a script"},
    Example{"attn-cli run --lines part-2.txt --first-index 1000 --json", "a part of them; its lines count on from there"},
    Example{R"(attn-cli run "Life is short" --heads 4 -o weights.svg)", "one heat map per head; --plot arcs draws lines"},
    Example{"attn-cli run \"Life is short\" --show all -o drawn.npz", "every array, for NumPy"},
    Example{R"(attn-cli run "Life is short" --heads 4 -o attention.html)", "a page to explore in a browser"},
    Example{"attn-cli run \"Life is short\" -o my.recipe.json", "a recipe that states what was printed; check tests it"},
    Example{"attn-cli run --ids 2,6,8,3,1 --vocab-size 10 --labels my,name,is,a,cat", "ids instead of words"},
};
constexpr std::string_view common = "--heads --causal --model --seed --query --recipe --lines --show --json -o";
constexpr std::string_view notes = "Without SENTENCE, or with -, the text is read from standard input. A sentence\n"
                                   "that begins with a dash goes after --. With --lines a line that cannot be\n"
                                   "computed is reported, the rest goes on, and the exit code is 65 at the end.\n"
                                   "Results come in the order of the lines, and none waits while the input pauses;\n"
                                   "the memory does not grow with their number. Where many processes share an input,\n"
                                   "--first-index numbers the lines of each; attn-cli help scale shows how with GNU\n"
                                   "parallel and Spark.\n"
                                   "Tables escape control characters of words; CSV keeps them, between quotes.\n";

/// Runs of a recipe: with its sentence, with each line of a stream, or against files.
class Runner {
public:
    Runner(const TypedArguments& operands, const RunOptions& options, model::Recipe recipe, const Globals& globals, Log& log)
        : operands_(operands), options_(options), log_(log), report_(options, globals, log),
          input_(options, std::move(recipe), globals, log)
    {
        input_.load(options.format);
        input_.require_apart_from(options.against.picture ? options.against.picture : options.output.path);
        const bool lines = options.source == SentenceSource::lines;
        report_.format().table.introduced = shows_the_usual() && !lines && !each_entry();
        if (options.format == Format::html) {
            report_.format().page.command = command_without_what_if();
        }
        model::RunSettings& settings = input_.settings();
        settings.show = options.show.all ? model::everything(input_.recipe()) : model::Show{};
        settings.show.insert(options.show.items.begin(), model::Show::end());
        settings.top = options.top;
        settings.isa = globals.isa.value_or(core::Isa::portable); // auto keeps the promise of the same bytes
        if (!lines) {
            report_.output().tell(report_.stages());
        }
        if (!lines || log.verbose()) {
            settings.observer = report_.stages().observer();
        }
        if (options.format == Format::html) {
            settings.observer = page_observer(std::move(settings.observer));
            settings.show = settings.show.empty() ? page_items(input_.recipe()) : settings.show;
        }
        const bool masked = input_.recipe().attention.has_mask() &&
                            model::everything(input_.recipe()).contains(model::Item::masked_scores); // but of a mean
        if (options.format == Format::svg && settings.show.contains(model::Item::weights) && masked) {
            settings.show.insert(model::Item::masked_scores); // not drawn, but they tell which weights the mask made 0
        }
        if (lines) {
            prepare_embeddings(settings);
        }
    }

    /// The recipe, with all of standard input as its sentence where that is read; of a batch each entry, in the form of lines.
    int once();
    /// The recipe with each line of the stream as its sentence.
    int each_line();
    /// The files of --against.
    int against(int threads);

private:
    [[nodiscard]] bool each_entry() const
    {
        return model::is_whole_batch(input_.recipe()) && !info_of(options_.format).one_result;
    }
    [[nodiscard]] bool shows_the_usual() const { return !options_.show.given(); }
    [[nodiscard]] std::vector<model::Result> results();
    void select(model::Result& result);
    [[nodiscard]] std::string command_without_what_if() const;

    const TypedArguments& operands_;
    const RunOptions& options_;
    Log& log_;
    RunReport report_;
    RunInput input_;
};

std::vector<model::Result> Runner::results()
{
    if (each_entry()) {
        return input_.computed(model::run_entries);
    }
    std::vector<model::Result> one;
    one.push_back(input_.computed(model::run));
    return one;
}

/// For the page, which adds what it lets change.
std::string Runner::command_without_what_if() const
{
    namespace field = model::field;
    return repeated_command(operands_, {option_name(field::causal), "--no-" + option_name(field::causal).substr(2),
                                        option_name(field::scale), option_name(field::hide)});
}

/// What of it is written, in a format of one result.
void Runner::select(model::Result& result)
{
    if (options_.format == Format::html && shows_the_usual()) {
        leave_out_stages(result);
    }
    if (options_.format == Format::svg) {
        result.show = options_.show.items;
    }
    if (options_.format == Format::recipe) {
        result.config() = named_beside(options_.output.path, std::move(result.config()), input_.search(), log_);
    }
}

int Runner::once()
{
    if (options_.reads_sentence()) {
        input_.read_standard_input("SENTENCE, --lines, --ids or --recipe");
    }
    std::vector<model::Result> all = results();
    input_.warn_of_assumptions();
    input_.files().require_unchanged();
    report_.say(all, each_entry());
    select(all.front());
    report_.write(all, each_entry());
    if (!each_entry()) {
        report_.hint(operands_, all.front());
    }
    return success;
}

int Runner::against(int threads)
{
    if (options_.reads_sentence()) {
        input_.read_standard_input("SENTENCE, --ids or --recipe");
    }
    const auto item = shows_the_usual() ? std::nullopt : std::optional(*options_.show.items.begin());
    const auto runs = input_.computed([&](const model::Recipe& recipe, const model::RunSettings& settings) {
        return model::diagnose::RunAgainst(recipe, settings, item);
    });
    input_.warn_of_assumptions();
    input_.files().require_unchanged();
    using model::Item;
    const auto against = [&](const ComparedFile& file) {
        const model::ComparedTensor& tensor =
            item ? file.only({name_of(*item)})
                 : file.only({name_of(Item::output), name_of(Item::context), name_of(Item::weights)});
        return runs.against(tensor, file.name(), options_.against.criterion(), {.threads = threads});
    };
    return judge_files(options_.against,
                       {.against = against, .json = options_.output.json, .most_bytes = options_.max_input_bytes}, log_);
}

int Runner::each_line()
{
    input_.warn_of_assumptions();
    return run_lines({options_, input_.recipe(), input_.settings(), input_.files(), report_});
}

int execute_run(RunOptions& options, const TypedArguments& operands, const Globals& globals, Log& log)
{
    finish_run_options(operands, options);
    refuse_documents(options);
    if (!options.against.given()) {
        warn_of_other_meaning(operands, "--lines reads a file", log);
        if (options.show.given() && operands.words.size() == 1 && is_shown_name(operands.words.front())) {
            log.warning(in_quotes(operands.words.front()) + " is taken as a sentence; commas separate the names after --show");
        }
    }
    if (options.runs_model) {
        return run_trained(operands, options, globals, log);
    }
    Runner runner(operands, options, make_recipe(options), globals, log);
    if (options.against.given()) {
        return runner.against(globals.threads);
    }
    return options.source == SentenceSource::lines ? runner.each_line() : runner.once();
}

} // namespace

constinit const Command run_command{
    .name = "run",
    .operands = "[SENTENCE]",
    .summary = "A sentence to tokens, vocabulary, ids, embeddings, queries, keys, values, scores, weights and context.",
    .examples = examples,
    .common = common,
    .notes = notes,
    .page = "tutorial",
    .declare = with_options<RunOptions, declare_run, execute_run>,
};

} // namespace attn::cli
