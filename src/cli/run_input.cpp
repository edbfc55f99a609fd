#include "cli/run_input.hpp"

#include "attn/model/words.hpp"
#include "attn/tensor/error.hpp"
#include "cli/embeddings.hpp"
#include "cli/files.hpp"
#include "cli/recipes.hpp"

#include <unistd.h>

namespace attn::cli {
namespace {

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

/// A table without words gives its rows to the words of whatever input there is, in the order of their ids. Where there are
/// more rows than words, the layer was not made for this input alone.
std::optional<std::string> warning_of_rows(const model::Recipe& recipe, const model::Given& given, bool lines)
{
    if (given.table().empty() || !std::holds_alternative<model::SentenceInput>(recipe.input)) {
        return std::nullopt;
    }
    const std::string rows = given.table() + " has " + counted(*recipe.dims.vocab_size, "row") + " and no words for them: ";
    if (lines) {
        return rows + "they go by the ids of each line's own vocabulary, so that other lines give other words the same rows";
    }
    const auto distinct = std::ssize(*model::read_words(recipe, given).vocabulary);
    if (distinct >= *recipe.dims.vocab_size) {
        return std::nullopt;
    }
    return rows + "they go by the ids of this sentence's own vocabulary (" + std::to_string(distinct) +
           "), so that another sentence gives other words the same rows; --ids chooses rows";
}

} // namespace

model::Recipe make_recipe(const InputOptions& options)
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

RunInput::RunInput(const InputOptions& options, model::Recipe recipe, const Globals& globals, Log& log)
    : options_(options), recipe_(std::move(recipe)), log_(log)
{
    settings_.given = options.recipe ? model::Given(options.overrides) : model::Given::all();
    settings_.threads = globals.threads;
}

void RunInput::load(Format format)
{
    const Digests digests = holds_config(format) ? Digests::all : Digests::stated;
    assumption_ = load_files(recipe_, {files_, settings_, log_, digests});
}

void RunInput::read_standard_input(std::string_view otherwise)
{
    const bool unasked_terminal = options_.source == Source::pipe && ::isatty(STDIN_FILENO) != 0;
    if (!is_usable(STDIN_FILENO) || unasked_terminal) {
        throw Error(ErrorKind::usage, "a sentence is missing: give " + std::string(otherwise) + ", or pipe a text in");
    }
    std::string text = read_all(STDIN_FILENO, options_.max_input_bytes, name_of_input("-"));
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        throw Error(ErrorKind::data, std::string("no words in the input: standard input ") +
                                         (text.empty() ? "is empty" : "holds only white space") +
                                         "; allowed: at least one word");
    }
    model::Overrides sentence;
    sentence.input = model::SentenceInput{.sentence = std::move(text), .cross = {}};
    sentence.cross = options_.overrides.cross;
    recipe_ = model::apply(std::move(recipe_), sentence);
}

void RunInput::warn_of_assumptions()
{
    if (assumption_) {
        log_.warning(*assumption_);
    }
    if (const auto rows = warning_of_rows(recipe_, settings_.given, options_.source == Source::lines)) {
        log_.warning(*rows);
    }
}

} // namespace attn::cli
