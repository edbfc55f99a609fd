#include "cli/input/run_input.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/bytes.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/model/layer/words.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/report/json/recipe_json.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/embeddings.hpp"
#include "cli/input/recipes.hpp"
#include "cli/system/files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include <unistd.h>

namespace attn::cli {
namespace {

namespace field = model::field;

/// Names for the ids or positions that the recipe brought.
void label(model::Recipe& recipe, const std::vector<std::string>& labels)
{
    if (auto* ids = std::get_if<model::IdsInput>(&recipe.input)) {
        ids->labels = labels;
    } else if (auto* positions = std::get_if<model::PositionsInput>(&recipe.input)) {
        positions->labels = labels;
    } else {
        throw Error(ErrorKind::usage, "--labels requires --ids, or a recipe of ids or positions");
    }
}

/// The step with what --set says of it, judged as one of a file.
model::Step changed(const model::Step& step, const model::StepValues& values, const std::string& place)
{
    const bool seed = std::holds_alternative<model::Seed>(step);
    for (const auto& [field, value] : values) {
        if ((field == &model::draw_field::seed) != seed) {
            throw Error(ErrorKind::usage, fmt::format("{}.{}: this step is {} and has no {}", place, field->key,
                                                      seed ? "a seed" : "a draw", field->key));
        }
    }
    try {
        return io::parse_step(report::step_with(step, values), place);
    } catch (const Error& error) {
        throw Error(ErrorKind::usage, error.what());
    }
}

void change_steps(model::Recipe& recipe, const std::map<Index, model::StepValues>& steps)
{
    for (const auto& [number, values] : steps) {
        const std::string called = model::place_of_step(static_cast<std::size_t>(number));
        const std::string place = fmt::format("{} {}", model::option::set, called);
        if (recipe.draws.empty()) {
            throw Error(ErrorKind::usage, place, "a recipe without draws", "one that draws");
        }
        if (number >= std::ssize(recipe.draws)) {
            throw Error(ErrorKind::usage, model::option::set, called,
                        fmt::format("{} to {}", model::place_of_step(0), model::place_of_step(recipe.draws.size() - 1)));
        }
        model::Step& step = recipe.draws[static_cast<std::size_t>(number)];
        step = changed(step, values, place);
    }
}

/// A table without words gives its rows to the words of whatever input there is, in the order of their ids. Where there are
/// more rows than words, the layer was not made for this input alone.
std::optional<std::string> warning_of_rows(const model::Recipe& recipe, const model::Origin& origin, bool lines)
{
    if (origin.table().empty() || !std::holds_alternative<model::SentenceInput>(recipe.input)) {
        return std::nullopt;
    }
    const std::string rows =
        fmt::format("{} has {} and no list of their words: ", origin.table(), counted(*recipe.dims.vocab_size, "row"));
    if (lines) {
        return rows +
               "words take rows by their ids in the vocabulary of each line, so the same word takes other rows in other lines";
    }
    model::Recipe one = recipe;
    if (model::is_whole_batch(one)) {
        one.entry = 0; // all have one vocabulary
    }
    const auto distinct = std::ssize(*model::read_words(one, origin).vocabulary);
    if (distinct >= *recipe.dims.vocab_size) {
        return std::nullopt;
    }
    return fmt::format(
        "{}words take rows by their ids in the vocabulary of this sentence ({}), so the same word may take another "
        "row in another sentence; --ids chooses rows",
        rows, counted(distinct, "word"));
}

/// FILE:NAME is the tensor NAME of a file.
void split_name(model::Overrides& overrides, const model::FieldInfo& file, const model::FieldInfo& name)
{
    if (const auto text = overrides.find<std::string>(file)) {
        TensorArgument argument = split_tensor_argument(*text);
        overrides.set(file, std::move(argument.path));
        overrides.set(name, std::move(argument.name));
    }
}

} // namespace

model::Recipe make_recipe(const InputOptions& options)
{
    model::Recipe recipe = options.recipe ? load_recipe(*options.recipe, options.max_input_bytes) : model::default_recipe();
    change_steps(recipe, options.steps);
    model::Overrides overrides = options.overrides;
    split_name(overrides, field::mask_file, field::mask_name);
    split_name(overrides, field::embeddings_file, field::embeddings_name);
    if (options.source != SentenceSource::overrides && options.source != SentenceSource::recipe) {
        overrides.set(field::sentence, std::string()); // the text comes later
    }
    recipe = model::apply(std::move(recipe), overrides, model::Origin(overrides, option_name));
    if (options.labels && options.source == SentenceSource::recipe) {
        label(recipe, *options.labels);
    }
    return recipe;
}

RunInput::RunInput(const InputOptions& options, model::Recipe recipe, const Globals& globals, Log& log)
    : options_(options), recipe_(std::move(recipe)), log_(log), folder_(folder_of_recipe(options.recipe.value_or("")))
{
    settings_.origin =
        options.recipe ? model::Origin(options.overrides, option_name) : model::Origin::options_alone(option_name);
    std::set<std::size_t> steps;
    for (const auto& [step, values] : options.steps) {
        steps.insert(static_cast<std::size_t>(step));
    }
    settings_.origin = settings_.origin.with_steps(std::move(steps));
    settings_.threads = globals.threads;
}

void RunInput::load(Format format)
{
    assumption_ = load_files(recipe_, {files_, settings_, log_, digests_for(format), folder_});
}

void RunInput::require_apart_from(const std::optional<std::string>& output) const
{
    files_.require_apart_from(output);
    if (options_.recipe && !io::find(io::builtin_recipes(), *options_.recipe)) {
        require_apart(output, *options_.recipe);
    }
}

std::string standard_sentence(const InputOptions& options, std::string_view otherwise)
{
    const bool unasked_terminal = options.source == SentenceSource::pipe && ::isatty(STDIN_FILENO) != 0;
    if (!is_readable(STDIN_FILENO) || unasked_terminal) {
        throw Error(ErrorKind::usage, fmt::format("a sentence is missing: give {}, or pipe a text in", otherwise));
    }
    const std::string read = read_all(STDIN_FILENO, options.max_input_bytes, name_of_input("-"));
    const std::string_view text = io::without_byte_order_mark(read);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        throw Error(ErrorKind::data, fmt::format("no words in the input: standard input {}; allowed: at least one word",
                                                 text.empty() ? "is empty" : "holds only white space"));
    }
    refuse_document(text, name_of_input("-"), "-");
    return std::string(text);
}

void refuse_documents(const InputOptions& options)
{
    const auto judge = [](const std::optional<std::string>& sentence, std::string_view name) {
        if (sentence) {
            refuse_document(*sentence, name, "FILE");
        }
    };
    judge(options.overrides.find<std::string>(field::sentence), "SENTENCE");
    judge(options.overrides.find<std::string>(field::cross), option_name(field::cross));
    judge(options.trained.pair, option_name(model::trained_field::pair));
    judge(options.trained.target, option_name(model::trained_field::target));
}

void warn_of_other_meaning(const TypedArguments& typed, std::string_view reads_file, Log& log)
{
    const std::string word = typed.words.empty() ? "-" : typed.words.front();
    if (word == "-" || word.find_first_of(" \t\n") != std::string::npos) {
        return;
    }
    const std::string start = in_quotes(word) + " is taken as a sentence; ";
    std::error_code ignored;
    if (io::find(io::builtin_recipes(), word)) {
        log.warning(start + fmt::format("--recipe {} runs the built-in recipe", word));
    } else if (std::filesystem::is_regular_file(word, ignored)) {
        log.warning(start + std::string(reads_file) + (word.ends_with(".json") ? ", --recipe a recipe" : ""));
    } else if (begins_with_typographic_dash(word)) {
        log.warning(start + "options begin with the ASCII '-'");
    }
}

void RunInput::read_standard_input(std::string_view otherwise)
{
    model::Overrides sentence;
    sentence.set(field::sentence, standard_sentence(options_, otherwise));
    if (const auto cross = options_.overrides.find<std::string>(field::cross)) {
        sentence.set(field::cross, *cross);
    }
    recipe_ = model::apply(std::move(recipe_), sentence);
}

void RunInput::warn_of_assumptions()
{
    const bool lines = options_.source == SentenceSource::lines; // which read the numbers of a mask one by one
    log_.warn_of(assumption_);
    log_.warn_of(lines ? std::nullopt : doubt_about_mask(recipe_, settings_));
    log_.warn_of(warning_of_rows(recipe_, settings_.origin, lines));
}

} // namespace attn::cli
