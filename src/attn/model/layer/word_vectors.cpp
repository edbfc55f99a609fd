#include "attn/model/layer/word_vectors.hpp"

#include "attn/model/layer/float32_range.hpp"
#include "attn/model/recipe/option_names.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::model {
namespace {

constexpr std::size_t most_listed = 12;

std::string list_of(const std::vector<std::string>& words)
{
    std::string list;
    for (std::size_t i = 0; i < std::min(words.size(), most_listed); ++i) {
        list += (i == 0 ? "" : ", ") + in_quotes(words[i]);
    }
    if (words.size() > most_listed) {
        list += fmt::format(", … ({})", counted(std::ssize(words), "word"));
    }
    return list;
}

bool would_change(const std::string& word)
{
    return text::casefold(word) != word;
}

/// Whether --tokenizer words takes marks off it: "sat.", or drops it: "–".
bool has_marks_around(const std::string& word)
{
    const std::vector<std::string> plain = text::plain_words(word);
    return plain.empty() || (plain.size() == 1 && plain.front() != word);
}

[[noreturn]] void refuse_missing(const std::vector<std::string>& missing, const Recipe& recipe, const std::string& file)
{
    const auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    const bool folding_may_help =
        sentence != nullptr && !sentence->casefold && std::any_of(missing.begin(), missing.end(), would_change);
    const bool marks_in_the_way = sentence != nullptr && sentence->tokenizer == Tokenizer::document &&
                                  std::any_of(missing.begin(), missing.end(), has_marks_around);
    throw Error(ErrorKind::data,
                fmt::format("{} has no vector for {}; allowed: words of that file, as they are written there{}{}; "
                            "--unknown TOKEN uses the vector of TOKEN, a word of the file",
                            file, list_of(missing), folding_may_help ? "; --casefold looks them up in lower case" : "",
                            marks_in_the_way ? "; --tokenizer words looks them up without punctuation" : ""));
}

std::vector<std::string> words_without_vector(const std::vector<std::string>& words, const FoundVectors& found)
{
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!found.found[i]) {
            missing.push_back(words[i]);
        }
    }
    return missing;
}

/// What files call unknown words.
const std::vector<std::string>& usual_unknowns()
{
    static const std::vector<std::string> names{"<unk>", "<UNK>", "[UNK]", "UNK", "unk"};
    return names;
}

/// "; did you mean '<unk>'?", if the file has one of them.
std::string usual_unknown(const FoundVectors& found)
{
    const auto first = std::ranges::find(found.noticed, true);
    return first == found.noticed.end()
               ? ""
               : fmt::format("; did you mean {}?",
                             in_quotes(usual_unknowns()[static_cast<std::size_t>(first - found.noticed.begin())]));
}

/// A row is named by its word: in the file it stands elsewhere than in the table.
void require_range(const TensorView& rows, const std::vector<std::string>& vocabulary, const VectorsOfWords& vectors)
{
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        const TensorView row = slice(rows, std::array{static_cast<Index>(i)});
        const std::string what = fmt::format("the vector of {} in {}", in_quotes(vocabulary[i]), vectors.name);
        require_float32_range(row, what);
        if (vectors.integers) {
            require_exact_integers(row, indices(row.count()), Dtype::float32, what);
        }
    }
}

EmbeddingTable table_of(const Recipe& recipe, const Words& words, const VectorsOfWords& vectors, const Origin& origin)
{
    if (!words.vocabulary) {
        throw Error(ErrorKind::data, vectors.name +
                                         " gives vectors to words, and the input is of ids; allowed: a sentence, or a "
                                         "tensor without a list of words");
    }
    const std::vector<std::string>& vocabulary = *words.vocabulary;
    const std::optional<std::string>& unknown = recipe.embeddings->unknown;
    std::vector<std::string> wanted = vocabulary;
    std::size_t unknown_at = wanted.size();
    if (unknown) {
        const auto place = std::find(wanted.begin(), wanted.end(), *unknown);
        unknown_at = static_cast<std::size_t>(place - wanted.begin());
        if (place == wanted.end()) {
            wanted.push_back(*unknown);
        }
    }
    FoundVectors found =
        vectors.find({.words = wanted, .noticed = unknown ? std::span(usual_unknowns()) : std::span<const std::string>()});
    if (unknown && !found.found[unknown_at]) {
        throw Error(origin.fault({&field::unknown}), origin.name_of(field::unknown), in_quotes(*unknown),
                    fmt::format("a word of {}{}", vectors.name, usual_unknown(found)));
    }
    const std::vector<std::string> missing = words_without_vector(vocabulary, found);
    if (!missing.empty() && !unknown && !found.other_count.empty()) {
        throw Error(ErrorKind::data, found.other_count);
    }
    if (!missing.empty() && !unknown) {
        refuse_missing(missing, recipe, vectors.name);
    }
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        if (!found.found[i]) {
            found.rows.matrix().row(static_cast<Index>(i)) = found.rows.matrix().row(static_cast<Index>(unknown_at));
        }
    }
    found.rows.shape[0] = static_cast<Index>(vocabulary.size());
    found.rows.values.resize(vocabulary.size() * static_cast<std::size_t>(vectors.dim));
    NamedTensor rows = owned(vectors.name, std::move(found.rows));
    if (recipe.dtype == Dtype::float32) {
        require_range(rows.view, vocabulary, vectors);
    }
    const std::string warning = missing.empty() ? ""
                                                : fmt::format("embeddings: no vector for {}; that of {} is used",
                                                              list_of(missing), in_quotes(*unknown));
    return {std::move(rows), warning};
}

EmbeddingTable table_of(const Recipe& recipe, const Words& words, const VectorsOfIds& vectors, const Origin& /*origin*/)
{
    const auto distinct = static_cast<Index>(words.vocabulary ? words.vocabulary->size() : 0);
    if (words.vocabulary && distinct != vectors.count && recipe.dims.vocab_size != vectors.count) {
        throw Error(ErrorKind::data, vectors.name, counted(vectors.count, "row") + " without a list of words",
                    fmt::format("{}, one for each word of the vocabulary in its order, or a list with {} {}=FILE",
                                counted(distinct, "row"), option::set, field::words_file.key));
    }
    return {vectors.rows(recipe.dtype), {}};
}

/// What the file decides, or Error where another one is stated.
Index agreed(const std::optional<Index>& length, Index of_file, const FieldInfo& field, const Origin& origin,
             const std::string& file)
{
    if (length && *length != of_file) {
        throw Error(origin.fault({&field}), origin.name_of(field), std::to_string(*length),
                    fmt::format("{}, as in {}", of_file, file));
    }
    return of_file;
}

void fit(const Recipe& recipe, const VectorsOfWords& vectors, const Origin& origin)
{
    if (std::holds_alternative<IdsInput>(recipe.input)) {
        throw Error(origin.fault({&field::ids}),
                    fmt::format("{} cannot be used with {}, which has vectors for words; allowed: a sentence, "
                                "or a tensor without a list of words, whose rows are ids",
                                origin.name_of(field::ids), vectors.name));
    }
    if (recipe.dims.vocab_size) {
        throw Error(origin.fault({&field::vocab_size}),
                    origin.name_of(field::vocab_size) +
                        " cannot be used with vectors of words: the table has one row per distinct word of the input");
    }
}

void fit(Recipe& recipe, const VectorsOfIds& vectors, const Origin& origin)
{
    if (std::holds_alternative<IdsInput>(recipe.input) || recipe.dims.vocab_size) {
        recipe.dims.vocab_size = agreed(recipe.dims.vocab_size, vectors.count, field::vocab_size, origin, vectors.name);
    }
    if (recipe.embeddings->unknown) {
        throw Error(origin.fault({&field::unknown}),
                    fmt::format("{} requires words for the rows of {}; {} {}=FILE names them", origin.name_of(field::unknown),
                                vectors.name, option::set, field::words_file.key));
    }
}

} // namespace

Recipe with_vectors(Recipe recipe, const WordVectors& vectors, const Origin& origin)
{
    std::visit(
        [&](const auto& known) {
            if (recipe.parameters && recipe.dims.embed_dim && *recipe.dims.embed_dim != known.dim) {
                throw Error(
                    ErrorKind::data, known.name, "vectors of " + counted(known.dim, "number"),
                    fmt::format("{}, which the layer of {} reads", *recipe.dims.embed_dim, in_quotes(recipe.parameters->file)));
            }
            recipe.dims.embed_dim = agreed(recipe.dims.embed_dim, known.dim, field::embed_dim, origin, known.name);
            fit(recipe, known, origin);
        },
        vectors);
    return recipe;
}

EmbeddingTable embedding_table(const Recipe& recipe, const Words& words, const WordVectors& vectors, const Origin& origin)
{
    return std::visit([&](const auto& known) { return table_of(recipe, words, known, origin); }, vectors);
}

} // namespace attn::model
