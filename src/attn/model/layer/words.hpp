// From a recipe's input to words and ids.
#pragma once

#include "attn/model/recipe/overrides.hpp"
#include "attn/model/recipe/recipe.hpp"
#include "attn/tensor/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace attn::model {

struct Words {
    std::vector<std::string> tokens;                    ///< (T)
    std::vector<std::string> key_tokens;                ///< (S) only with cross
    std::optional<std::vector<std::string>> vocabulary; ///< of a sentence, sorted
    std::vector<Index> ids, key_ids;                    ///< none for bare positions
    bool cross = false;                                 ///< keys and values come from words of their own
    bool ragged = false;                                ///< the entries of the batch differ in their number of words

    [[nodiscard]] Index T() const { return static_cast<Index>(tokens.size()); }
    [[nodiscard]] Index S() const { return cross ? static_cast<Index>(key_tokens.size()) : T(); }
};

/// Of a batch those of its entry. Throws Error(data) for text that is not UTF-8, for an input without words, for labels that do
/// not match the ids; and as entry_of.
[[nodiscard]] Words read_words(const Recipe& recipe, const Origin& origin = {});

/// Whether keys and values come from words of their own: a second sentence, or key positions.
[[nodiscard]] bool is_cross(const Recipe& recipe);

struct WordCounts {
    Index T = 0, S = 0;
};
/// How many words read_words would give, where the text is so long that making them may take a second and more; nothing where
/// it is shorter, or no text. Throws Error(data) for text that is not UTF-8.
[[nodiscard]] std::optional<WordCounts> count_words_of_long_text(const Recipe& recipe, const Origin& origin = {});

/// Who looks for a word, for errors.
struct Lookup {
    std::string name; ///< "--query"
    ErrorKind fault = ErrorKind::usage;
    bool casefold = false;        ///< the words are folded, and so must be what is looked for
    std::string of = "the input"; ///< whose words they are
    std::string allowed = {};     ///< in place of all words and positions, where only some are to be found
};
/// Where `wanted` stands among `words`, ascending, at least one place: digits are always a position; a word stands wherever it
/// occurs, with or without the spaces that a tokenizer left around it. Throws Error for a position or word that is not there.
[[nodiscard]] std::vector<Index> places_of(const std::string& wanted, const std::vector<std::string>& words,
                                           const Lookup& lookup);

/// The same of several, ascending and without repetition; none of none.
[[nodiscard]] std::vector<Index> places_of(const std::vector<std::string>& wanted, const std::vector<std::string>& words,
                                           const Lookup& lookup);
/// The one of these places of what was looked for. Throws Error where they are several.
[[nodiscard]] Index only_place(const std::vector<Index>& places, const std::string& wanted,
                               const std::vector<std::string>& words, const Lookup& lookup);

/// Whether the words of its input are folded.
[[nodiscard]] bool folds_case(const Recipe& recipe);

/// "0 'Life', 1 'is', …": the words at these places, the first dozen of them.
[[nodiscard]] std::string numbered_words(const std::vector<Index>& places, const std::vector<std::string>& words);

/// "the input", or which of its two texts the words of the queries or of the keys are.
[[nodiscard]] std::string name_of_words(const Recipe& recipe, bool of_keys, const Origin& origin = {});

/// How a list of the recipe, such as field::query, looks for words. Errors are usage or data, as `origin` says who asked.
[[nodiscard]] Lookup lookup_of(const FieldInfo& field, const Recipe& recipe, const Origin& origin);

/// The positions that `query` chooses, as places_of; none when it is empty, which means all rows.
[[nodiscard]] std::vector<Index> query_positions(const Recipe& recipe, const Words& words, const Origin& origin = {});

} // namespace attn::model
