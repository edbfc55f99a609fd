// attn-cli run: a sentence in, attention out.
#include "attn/model/run.hpp"

#include "attn/io/builtin.hpp"
#include "attn/report/csv.hpp"
#include "attn/report/json.hpp"
#include "attn/report/table.hpp"
#include "attn/tensor/error.hpp"
#include "cli/embeddings.hpp"
#include "cli/exit_code.hpp"
#include "cli/lines.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/recipe_files.hpp"
#include "cli/recipes.hpp"
#include "cli/result_tensors.hpp"
#include "cli/run_options.hpp"
#include "cli/system.hpp"
#include "cli/tensor_output.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace attn::cli {
namespace {

constexpr std::array examples{
    Example{R"(attn-cli run "Life is short, eat dessert first")", "the table of the 2023 tutorial"},
    Example{R"(attn-cli run "Life is short" --query is --digits 8)", "one row, more digits"},
    Example{R"(attn-cli run "Life is short" --heads 4 --causal --json | jq '.weights[3]')", "the fourth head, for programs"},
    Example{"attn-cli run --recipe owen-2025 --show all", "every step of an article"},
    Example{"attn-cli run --lines sentences.txt --json -o results.json", "one result a line"},
    Example{"attn-cli run \"Life is short\" --show all -o drawn.npz", "every array, for NumPy"},
    Example{"attn-cli run --ids 2,6,8,3,1 --vocab-size 10 --labels my,name,is,a,cat", "ids instead of words"},
};
constexpr std::string_view notes = "Without SENTENCE, or with -, the text is read from standard input. A sentence\n"
                                   "that begins with a dash goes after --. With --lines a line that cannot be\n"
                                   "computed is reported, the rest goes on, and the exit code is 65 at the end.\n"
                                   "Tables escape control characters of words; CSV keeps them, between quotes.\n";

std::string short_number(double value)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, 2).ptr;
    return {text.data(), end};
}

/// One run of the command: computes results and writes them.
class Runner {
public:
    Runner(const RunOptions& options, model::Recipe recipe, const Globals& globals, Log& log)
        : options_(options), recipe_(std::move(recipe)), log_(log), output_(options.output), stages_(log)
    {
        settings_.show = options.show_all ? model::everything(recipe_) : model::Show{};
        settings_.show.insert(options.show.begin(), options.show.end());
        settings_.threads = globals.threads;
        settings_.isa = globals.isa.value_or(core::Isa::portable); // auto keeps the promise of the same bytes
        settings_.observer = stages_.observer();
        settings_.given = options.recipe ? model::Given(options.overrides) : model::Given::all();
        refuse_terminal(output_, options.format);
        load_files(recipe_, files_, settings_);
        if (options.source == Source::lines && settings_.word_vectors && settings_.word_vectors->prepare) {
            settings_.word_vectors->prepare();
        }
    }

    /// The recipe as it is.
    int once();
    /// The recipe with each line of the stream as its sentence.
    int each_line();
    /// The recipe with all of standard input as its sentence.
    int standard_input();

private:
    model::Result compute();
    void write(const model::Result& result, std::optional<Index> index);
    void tell(const model::Result& result, const std::string& prefix);
    void line(const Line& line, Index index);
    void failed_line(Index index, const Error& error);
    void set_sentence(std::string sentence);

    const RunOptions& options_;
    model::Recipe recipe_;
    Log& log_;
    Output output_;
    StageReporter stages_;
    TensorInputs files_; ///< that the recipe names
    model::RunSettings settings_;
    bool written_ = false; ///< a result, so that the next one is set apart
    bool failed_ = false;  ///< a line
};

void Runner::set_sentence(std::string sentence)
{
    model::Overrides text;
    text.input = model::SentenceInput{.sentence = std::move(sentence), .cross = {}};
    text.cross = options_.overrides.cross;
    recipe_ = model::apply(std::move(recipe_), text);
}

model::Result Runner::compute()
{
    settings_.memory_limit = memory_limit();
    model::Result result = model::run(recipe_, settings_);
    files_.require_unchanged();
    return result;
}

void Runner::write(const model::Result& result, std::optional<Index> index)
{
    switch (options_.format) {
    case Format::json: report::write_json(result, index, output_.sink()); break;
    case Format::csv: report::write_csv(result, {.header = !written_, .index = index}, output_.sink()); break;
    case Format::table:
        if (index) {
            output_.write((written_ ? "\nline " : "line ") + std::to_string(*index) + "\n");
        }
        report::write_table(result, {.digits = options_.digits, .width = output_.columns()}, output_.sink());
        break;
    default: write_result_tensors(result, options_.format, output_);
    }
    written_ = true;
}

void Runner::tell(const model::Result& result, const std::string& prefix)
{
    if (options_.format != Format::json) { // JSON holds them itself
        for (const std::string& warning : result.warnings) {
            log_.warning(prefix + warning);
        }
    }
    for (const model::Difference& difference : log_.quiet() ? std::vector<model::Difference>() : result.verify) {
        log_.note(prefix + "verify: " + difference.array + " differs from float64 by at most " +
                  short_number(difference.absolute) + ", relatively by at most " + short_number(difference.relative));
    }
}

int Runner::once()
{
    const model::Result result = compute();
    tell(result, "");
    write(result, std::nullopt);
    output_.finish();
    return success;
}

int Runner::standard_input()
{
    const bool unasked_terminal = options_.source == Source::pipe && ::isatty(STDIN_FILENO) != 0;
    if (!is_usable(STDIN_FILENO) || unasked_terminal) {
        throw Error(ErrorKind::usage, "a sentence is missing: give SENTENCE, --lines, --ids or --recipe, or pipe a text in");
    }
    std::string text = read_all(STDIN_FILENO, options_.max_input_bytes, name_of_input("-"));
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        throw Error(ErrorKind::data, std::string("no words in the input: standard input ") +
                                         (text.empty() ? "is empty" : "holds only white space") +
                                         "; allowed: at least one word");
    }
    set_sentence(std::move(text));
    return once();
}

void Runner::failed_line(Index index, const Error& error)
{
    failed_ = true;
    if (options_.format == Format::json) {
        report::write_json_error(index, exit_code(error.kind()), error.what(), output_.sink());
    } else {
        output_.flush(); // so that a terminal shows both in order
        log_.error("line " + std::to_string(index) + ": " + error.what());
    }
}

void Runner::line(const Line& line, Index index)
{
    const std::string prefix = "line " + std::to_string(index) + ": ";
    stages_.set_prefix(prefix);
    try {
        if (line.too_long) {
            throw Error(ErrorKind::data, "the line is longer than " + std::to_string(options_.max_input_bytes) +
                                             " bytes; --max-input-bytes allows more");
        }
        set_sentence(line.text);
        const model::Result result = compute();
        tell(result, prefix);
        write(result, index);
    } catch (const Error& error) {
        // What is wrong with the line alone is reported in its place. A wrong option is wrong for every line, but for a query
        // word that this line does not have.
        const bool of_the_line = error.kind() == ErrorKind::data || error.kind() == ErrorKind::too_large ||
                                 (error.kind() == ErrorKind::usage && !recipe_.query.empty());
        if (!of_the_line) {
            throw;
        }
        failed_line(index, error);
    }
}

int Runner::each_line()
{
    const Descriptor input = open_input(options_.lines);
    LineReader reader(input.number(), name_of_input(options_.lines), options_.max_input_bytes, [this] { output_.flush(); });
    for (Index index = 0; const std::optional<Line> next = reader.next(); ++index) {
        line(*next, index);
    }
    output_.finish();
    return failed_ ? bad_data : success;
}

/// Names for the ids or positions that the recipe brought.
void label(model::Recipe& recipe, const std::vector<std::string>& labels)
{
    if (auto* ids = std::get_if<model::IdsInput>(&recipe.input)) {
        ids->labels = labels;
    } else if (auto* positions = std::get_if<model::PositionsInput>(&recipe.input)) {
        positions->labels = labels;
    } else {
        throw Error(ErrorKind::usage, "--labels needs --ids, or a recipe of ids or positions");
    }
}

model::Recipe make_recipe(const RunOptions& options)
{
    model::Recipe recipe = options.recipe ? load_recipe(*options.recipe, options.max_input_bytes) : model::default_recipe();
    model::Overrides overrides = options.overrides;
    if (options.mask) {
        const TensorArgument mask = split_tensor_argument(*options.mask);
        overrides.mask = {mask.path, mask.name, {}};
    }
    if (overrides.embeddings) {
        split_name(*overrides.embeddings);
    }
    const bool text_comes_later = options.source != Source::overrides && options.source != Source::recipe;
    if (text_comes_later) {
        overrides.input = model::SentenceInput{};
    }
    recipe = model::apply(std::move(recipe), overrides);
    if (options.labels && options.source == Source::recipe) {
        label(recipe, *options.labels);
    }
    return recipe;
}

/// A single word that names something else was probably meant to.
void warn_of_names(const Arguments& arguments, const RunOptions& options, Log& log)
{
    const std::string word = arguments.operands.empty() ? "-" : arguments.operands.front();
    if (word == "-" || word.find_first_of(" \t\n") != std::string::npos) {
        return;
    }
    const std::string start = attn::quoted(word) + " is taken as a sentence; ";
    std::error_code ignored;
    if (io::find(io::builtin_recipes(), word)) {
        log.warning(start + "--recipe " + word + " runs the built-in recipe");
    } else if (std::filesystem::is_regular_file(word, ignored)) {
        log.warning(start + "--lines reads a file" + (word.ends_with(".json") ? ", --recipe a recipe" : ""));
    } else if (!options.show.empty() && std::ranges::find(model::item_names, word) != model::item_names.end()) {
        log.warning(start + "commas separate the names after --show");
    } else if (begins_with_typographic_dash(word)) {
        log.warning(start + "options begin with the ASCII '-'");
    }
}

int execute_run(const Arguments& arguments, const Globals& globals, Log& log)
{
    const RunOptions options = read_run_options(arguments);
    warn_of_names(arguments, options, log);
    Runner runner(options, make_recipe(options), globals, log);
    switch (options.source) {
    case Source::lines: return runner.each_line();
    case Source::standard_input:
    case Source::pipe: return runner.standard_input();
    case Source::overrides:
    case Source::recipe: break;
    }
    return runner.once();
}

} // namespace

constinit const Command run_command{
    .name = "run",
    .operands = "[SENTENCE]",
    .summary = "A sentence to tokens, vocabulary, ids, embeddings, queries, keys, values, scores, weights and context.",
    .examples = examples,
    .groups = run_option_groups,
    .notes = notes,
    .execute = execute_run,
};

} // namespace attn::cli
