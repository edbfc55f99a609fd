#include "attn/model/word_vectors.hpp"

#include "attn/tensor/error.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/utf8.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::model {
namespace {

constexpr std::size_t most_listed = 12;

std::string list_of(const std::vector<std::string>& words)
{
    std::string list;
    for (std::size_t i = 0; i < std::min(words.size(), most_listed); ++i) {
        list += (i == 0 ? "" : ", ") + quoted(words[i]);
    }
    if (words.size() > most_listed) {
        list += ", … (" + std::to_string(words.size()) + " words)";
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

[[noreturn]] void refuse_missing(const std::vector<std::string>& missing, const Recipe& recipe, const WordVectors& vectors)
{
    const auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    const bool folding_may_help =
        sentence != nullptr && !sentence->casefold && std::any_of(missing.begin(), missing.end(), would_change);
    const bool marks_in_the_way = sentence != nullptr && sentence->tokenizer == Tokenizer::document &&
                                  std::any_of(missing.begin(), missing.end(), has_marks_around);
    throw Error(ErrorKind::data, vectors.name + " has no vector for " + list_of(missing) +
                                     "; allowed: words of that file, as they are written there" +
                                     (folding_may_help ? "; --casefold looks them up in lower case" : "") +
                                     (marks_in_the_way ? "; --tokenizer words looks them up without punctuation" : "") +
                                     "; --unknown TOKEN gives them the vector of one of its words");
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
               : "; did you mean " + quoted(usual_unknowns()[static_cast<std::size_t>(first - found.noticed.begin())]) + "?";
}

EmbeddingTable table_of_words(const Recipe& recipe, const std::vector<std::string>& vocabulary, const WordVectors& vectors)
{
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
        throw Error(ErrorKind::data, "--unknown", quoted(*unknown), "a word of " + vectors.name + usual_unknown(found));
    }
    const std::vector<std::string> missing = words_without_vector(vocabulary, found);
    if (missing.empty() || !unknown) {
        if (!missing.empty()) {
            refuse_missing(missing, recipe, vectors);
        }
        found.rows.shape[0] = static_cast<Index>(vocabulary.size());
        found.rows.values.resize(vocabulary.size() * static_cast<std::size_t>(vectors.dim));
        return {std::move(found.rows), {}};
    }
    Tensor<double> rows({static_cast<Index>(vocabulary.size()), vectors.dim});
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        rows.matrix().row(static_cast<Index>(i)) = found.rows.matrix().row(static_cast<Index>(found.found[i] ? i : unknown_at));
    }
    return {std::move(rows), "embeddings: no vector for " + list_of(missing) + "; that of " + quoted(*unknown) + " is used"};
}

EmbeddingTable table_of(const Recipe& recipe, const Words& words, const WordVectors& vectors)
{
    if (vectors.find && words.vocabulary) {
        return table_of_words(recipe, *words.vocabulary, vectors);
    }
    if (!vectors.rows) {
        throw Error(ErrorKind::data, vectors.name +
                                         " gives vectors to words, and the input is of ids; allowed: a sentence, or a "
                                         "tensor without a list of words");
    }
    const auto distinct = static_cast<Index>(words.vocabulary ? words.vocabulary->size() : 0);
    if (words.vocabulary && distinct != vectors.row_count && recipe.dims.vocab_size != vectors.row_count) {
        throw Error(ErrorKind::data, vectors.name, std::to_string(vectors.row_count) + " rows without a list of words",
                    std::to_string(distinct) + " rows, one for each word of the vocabulary in its order, or a list with "
                                               "--embedding-words");
    }
    return {vectors.rows(), {}};
}

} // namespace

EmbeddingTable embedding_table(const Recipe& recipe, const Words& words, const WordVectors& vectors)
{
    EmbeddingTable table = table_of(recipe, words, vectors);
    constexpr double most = std::numeric_limits<float>::max();
    const auto too_large = std::find_if(table.rows.values.begin(), table.rows.values.end(),
                                        [](double value) { return std::isfinite(value) && std::abs(value) > most; });
    if (recipe.dtype == Dtype::float32 && too_large != table.rows.values.end()) {
        throw Error(ErrorKind::data, vectors.name + " holds numbers beyond float32; allowed: up to 3.4e38, or --dtype float64");
    }
    return table;
}

} // namespace attn::model
