// attn-cli explain: the arithmetic behind one query word, or one cell, step by step.
#include "attn/model/explanation.hpp"

#include "attn/report/explanation.hpp"
#include "attn/tensor/error.hpp"
#include "cli/embeddings.hpp"
#include "cli/exit_code.hpp"
#include "cli/option_values.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/run_input.hpp"

#include <array>

namespace attn::cli {
namespace {

constexpr std::array examples{
    Example{R"(attn-cli explain "Life is short, eat dessert first" --query is)", "how one word attends, with every number"},
    Example{R"(attn-cli explain "Life is short, eat dessert first" --query is --key eat)", "one cell, product by product"},
    Example{R"(attn-cli explain "Life is short" --query 0 --heads 4 --head 3 --causal)", "the fourth head, under a mask"},
    Example{"attn-cli explain --recipe owen-2025 --query 0", "a row of an article"},
    Example{R"(attn-cli explain "Life is short" --query is --json | jq '.keys[2].products')", "every term, for programs"},
};
constexpr std::array explain_specs{
    OptionSpec{"--query", "POS|WORD", "the word whose row is explained: a word or a position from 0; required", {}},
    OptionSpec{"--key", "POS|WORD", "one cell of the row, with every product (default: all keys side by side)", {}},
    OptionSpec{"--head", "N", "which head, from 0 (default 0)", {}},
};
constexpr std::array output_specs{
    OptionSpec{"--format", "NAME", "table (default), json; or by the ending of -o: .txt, .json", {}},
    OptionSpec{"--json", "", "the same as --format json", {}},
    OptionSpec{"--digits", "N", "after the point, 0 to 17 (default 4); text only", {}},
    OptionSpec{"-o", "FILE", "the next word: a file, written whole or not at all; - is standard output", {}},
};
constexpr std::string_view notes = "The input and its options are those of `run`, and so are the numbers: each that\n"
                                   "`run` gives is shown as it is there, with the terms that add up to it. These\n"
                                   "are the sums of --isa portable, the only one that adds in the order shown.\n";

struct ExplainOptions : InputOptions {
    Format format = Format::table;
    int digits = 0;
    std::optional<std::string> output;
    model::Question question; ///< its position follows from the words
};

std::span<const OptionGroup> option_groups()
{
    static const std::array<OptionGroup, 6> groups{{{"What to explain", explain_specs},
                                                    {"Input", input_specs(false)},
                                                    {"Parameters", parameter_specs()},
                                                    {"Word vectors", embedding_specs()},
                                                    {"Attention", attention_specs()},
                                                    {"Output", output_specs}}};
    return groups;
}

ExplainOptions read_options(const Arguments& arguments, const Globals& globals)
{
    constexpr std::array formats{Format::table, Format::json};
    if (globals.isa.value_or(core::Isa::portable) != core::Isa::portable) {
        throw Error(ErrorKind::usage, "--isa", core::name_of(*globals.isa),
                    "portable or auto: explain shows sums in the order in which portable adds");
    }
    ExplainOptions options;
    static_cast<InputOptions&>(options) = read_input_options(arguments);
    options.output = arguments.value("-o");
    options.format = decide_format(arguments.value("--format"), arguments.flag("--json"), options.output, formats);
    options.digits = digits_option(arguments, options.format);
    options.question.head = integer_option(arguments, "--head", 0, most_heads - 1).value_or(0);
    options.question.key = arguments.value("--key");
    read_source(arguments, options);
    return options;
}

int execute_explain(const Arguments& arguments, const Globals& globals, Log& log)
{
    const ExplainOptions options = read_options(arguments, globals);
    RunInput input(options, make_recipe(options), globals, log);
    Output output(options.output);
    StageReporter stages(log);
    input.load(options.format);
    if (options.source == Source::standard_input || options.source == Source::pipe) {
        input.read_standard_input("SENTENCE, --ids or --recipe");
    }
    input.settings().observer = stages.observer();

    model::Question question = options.question;
    question.position = model::query_position(input.recipe(), input.settings().given);
    const model::Explanation explanation = input.computed([&](const model::Recipe& recipe, const model::RunSettings& settings) {
        return model::explain(model::run_for(question.position, recipe, settings), question, settings);
    });
    input.warn_of_assumptions();
    input.files().require_unchanged();
    if (options.format == Format::json) {
        report::write_explanation_json(explanation, output.sink());
    } else {
        for (const std::string& warning : explanation.warnings) {
            log.warning(warning);
        }
        report::write_explanation(explanation, {.digits = options.digits, .width = output.columns()}, output.sink());
    }
    output.finish();
    return success;
}

} // namespace

constinit const Command explain_command{
    .name = "explain",
    .operands = "[SENTENCE]",
    .summary = "The arithmetic behind one query word (--query) or one cell (--query, --key), step by step.",
    .examples = examples,
    .groups = option_groups,
    .notes = notes,
    .execute = execute_explain,
};

} // namespace attn::cli
