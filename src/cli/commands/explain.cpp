// attn-cli explain: the arithmetic behind one query word, or one cell, step by step.
#include "attn/model/explain/explanation.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/model/trained/explain_trained.hpp"
#include "attn/report/text/explanation.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/model_folder.hpp"
#include "cli/input/run_input.hpp"
#include "cli/options/format.hpp"
#include "cli/options/trained_options.hpp"
#include "cli/output/output.hpp"
#include "cli/output/shading.hpp"
#include "cli/system/exit_code.hpp"
#include "cli/system/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace attn::cli {
namespace {

constexpr std::array explain_examples{
    Example{R"(attn-cli explain "Life is short, eat dessert first" --query is)", "how one word attends, step by step"},
    Example{R"(attn-cli explain "Life is short, eat dessert first" --query is --key eat)", "one cell, product by product"},
    Example{R"(attn-cli explain "the cat sat and the cat" --model induction --head 1.0 --query 5)",
            "a head of a trained model: head 0 of layer 1"},
    Example{"attn-cli explain --recipe owen-2025 --query 0", "a row of an article"},
    Example{R"(attn-cli explain "Life is short" --query is --json | jq '.keys[2].products')", "every term, for programs"},
};
constexpr std::string_view explain_common =
    "--query --key --component --head --heads --causal --model --recipe --json -o --digits";
constexpr std::string_view explain_notes = "The input, its options and the numbers are those of `run`; one number of each\n"
                                           "vector is shown with its terms. The sums are those of --isa portable, the\n"
                                           "only one that adds in the order shown.\n";

constexpr std::array explain_formats{Format::table, Format::json, Format::markdown};

struct ExplainOptions : InputOptions {
    OutputOptions output;
    std::optional<std::string> key;
    Index component = 0;
    bool runs_model = false; ///< --model
};

/// Those that the recipe or --head names; without any the first.
std::vector<Index> explained_heads(const model::Recipe& recipe, const model::Origin& origin)
{
    namespace field = model::field;
    if (model::is_mean(recipe.head)) {
        throw Error(
            origin.fault({&field::head}), origin.name_of(field::head), field::head.allowed.instead,
            fmt::format("heads by number, which are explained one by one; {} says which", origin.option_of(field::head)));
    }
    return recipe.head.empty() ? std::vector<Index>{0} : recipe.head;
}

model::Question question_of(const ExplainOptions& options)
{
    return {.key = options.key, .component = options.component};
}

struct Explained {
    std::vector<model::Explanation> rows; ///< of a word in one head each, at least one
    bool word_is_named = false;
};

/// Of the recipe that the options describe.
Explained explain_recipe(const ExplainOptions& options, Format format, const Globals& globals, Log& log)
{
    RunInput input(options, make_recipe(options), globals, log);
    StageReporter stages(log);
    input.load(format);
    input.require_apart_from(options.output.path);
    if (options.reads_sentence()) {
        input.read_standard_input("SENTENCE, --ids or --recipe");
    }
    input.settings().observer = stages.observer();

    const std::vector<Index> heads = explained_heads(input.recipe(), input.settings().origin);
    model::Question question = question_of(options);
    question.position = model::query_position(input.recipe(), input.settings().origin);
    std::vector<model::Question> questions;
    for (const Index head : heads) {
        question.head = head;
        questions.push_back(question);
    }
    std::vector<model::Explanation> rows =
        input.within_memory([&](const model::Recipe& recipe, const model::RunSettings& settings) {
            const model::Result result = model::run_for(questions, recipe, settings);
            std::vector<model::Explanation> each;
            std::ranges::transform(questions, std::back_inserter(each),
                                   [&](const model::Question& asked) { return model::explain(result, asked, settings); });
            return each;
        });
    input.warn_of_assumptions();
    input.files().require_unchanged();
    return {std::move(rows), !input.recipe().query.empty()};
}

/// Of --model.
Explained explain_model(const ExplainOptions& options, Format format, const Globals& globals, Log& log)
{
    model::TrainedConfig config = options.trained;
    if (options.reads_sentence()) {
        config.sentence = standard_sentence(options, "SENTENCE");
    }
    const ModelFolder folder(config, digests_for(format));
    folder.require_apart_from(options.output.path);
    StageReporter stages(log);
    model::RunSettings settings;
    settings.origin = model::Origin::options_alone(option_name);
    settings.threads = globals.threads;
    settings.memory_limit = memory_limit();
    settings.observer = stages.observer();
    std::vector<model::Explanation> rows = model::explain_trained(config, folder.trained(), question_of(options), settings);
    folder.require_unchanged();
    return {std::move(rows), !config.query.empty()};
}

int execute_explain(ExplainOptions& options, const TypedArguments& typed, const Globals& globals, Log& log)
{
    options.max_input_bytes = globals.max_input_bytes.value_or(options.max_input_bytes);
    read_source(typed, options);
    options.runs_model = finish_trained(typed, options);
    if (globals.isa.value_or(core::Isa::portable) != core::Isa::portable) {
        throw Error(ErrorKind::usage, isa_name, core::name_of(*globals.isa),
                    "portable or auto: explain shows sums in the order in which portable adds");
    }
    const Format format =
        decide_format(options.output, explain_formats, "`run` writes the others, and its page (.html) has these steps, too");
    const int digits = decide_digits(options.output, format, explain_formats);
    refuse_documents(options);
    warn_of_other_meaning(typed, "< FILE reads a file", log);
    Output output(options.output.path);
    const Explained explained =
        options.runs_model ? explain_model(options, format, globals, log) : explain_recipe(options, format, globals, log);
    for (const std::string& warning : explained.rows.front().warnings) {
        if (format != Format::json) {
            log.warning(warning);
        }
    }
    for (const model::Explanation& explanation : explained.rows) {
        if (format == Format::json) {
            report::write_explanation_json(explanation, output);
        } else {
            output.append(&explanation == &explained.rows.front() ? "" : "\n");
            report::write_explanation(explanation,
                                      {.digits = digits,
                                       .width = output.columns(),
                                       .markdown = format == Format::markdown,
                                       .shading = shading_of(output, log.colour())},
                                      output);
        }
    }
    output.finish();
    if (!explained.word_is_named && explained.rows.front().tokens.size() > 1) {
        log.warning("the first word is explained; --query WORD or POSITION chooses another");
    }
    return success;
}

void declare_explain(Options& options, ExplainOptions& explain)
{
    namespace field = model::field;
    const std::string query_name = option_name(field::query), head_name = option_name(field::head);
    options.group("What to explain");
    OptionInfo query = option_of(field::query, query_name);
    query.meaning = "the word to explain, or its position";
    query.usual = "the first";
    query.symbol = "POS|WORD";
    options.add(query, [&](const model::FieldValue& rows) { explain.overrides.set(field::query, rows); });
    options.add({model::option::key, "POS|WORD", "one cell of the row, with every product", "all keys side by side"},
                explain.key);
    OptionInfo head = option_of(field::head, head_name);
    head.meaning = "which head; of several, one after the other";
    head.allowed.instead = {}; // no mean
    head.usual = "0";
    head.symbol = "N|LIST";
    declare_head(
        options, head, explain.layer_of_head,
        [&](const model::FieldValue& heads) { explain.overrides.set(field::head, heads); }, &explain.layer_heads);
    options.add({model::option::component, "N", "index of the number shown term by term", "0",
                 model::allow::integer(0, field::largest_int32)},
                explain.component);
    declare_input(options, explain);
    declare_trained(options, explain, "0");
    options.group("Output");
    declare_output(options, explain.output, explain_formats);
    declare_digits(options, explain.output, explain_formats);
}

} // namespace

constinit const Command explain_command{
    .name = "explain",
    .operands = "[SENTENCE]",
    .summary = "The arithmetic behind one query word (--query) or one cell (--query, --key), step by step.",
    .examples = explain_examples,
    .common = explain_common,
    .notes = explain_notes,
    .page = "tutorial",
    .declare = with_options<ExplainOptions, declare_explain, execute_explain>,
};

} // namespace attn::cli
