// What a run gives: plain values, in the order and with the names of the JSON result.
#pragma once

#include "attn/model/recipe/items.hpp"
#include "attn/model/recipe/recipe.hpp"
#include "attn/model/run/summary.hpp"

#include <cstdint>
#include <string_view>

namespace attn::model {

/// A numeric array of the result.
struct Array {
    std::string name; ///< "weights", or for a parameter "W_q"
    AnyTensor tensor;
    Side side = Side::left; ///< of a W_…
};

/// The largest difference between an array and the same computed in float64.
struct Difference {
    std::string array;
    double absolute = 0;
    double relative = 0; ///< |x - y| / |y|, over y ≠ 0
};

struct Result {
    Recipe config;
    std::vector<std::string> tokens;     ///< (T) the words; with ids the labels, or the ids as strings
    std::vector<std::string> key_tokens; ///< (S) only with cross-attention; otherwise the tokens are the keys' too
    std::optional<std::vector<std::string>> vocabulary; ///< sorted; a word's id is its place. Absent with ids and positions
    std::vector<Index> token_ids, key_token_ids;        ///< empty for bare positions
    std::vector<Index> token_types, offsets;            ///< of a whole trained model; begin and end of each token
    std::vector<Index> query_positions;                 ///< the rows that --query chose; empty: all
    std::vector<Array> parameters;                      ///< as drawn: embedding, W_q, W_k, W_v, W_o, …
    std::vector<Array> arrays;      ///< embeddings … entropy, those that were asked for and exist, in order
    std::optional<Summary> summary; ///< only where it was asked for
    std::vector<Difference> verify; ///< only with Recipe::verify
    std::vector<std::string> warnings;
    std::string_view portable_because = {}; ///< what an isa that was asked for does not compute; empty: it did
    Show show;                              ///< what a report prints of the above
    bool cross = false;
    std::vector<Index> heads;            ///< those of several that were kept, ascending; mean_of_heads; empty: all
    std::vector<Index> key_heads;        ///< the key/value heads that they read
    bool foreign = false;                ///< numbers of another program, of which the config says nothing but the words
    std::vector<std::string> key_labels; ///< the words of the keys and "(bias)", where there is one more key than words
    std::optional<Index> layer = {};     ///< of a whole trained model

    [[nodiscard]] const std::vector<std::string>& key_words() const { return cross ? key_tokens : tokens; }
    /// With a label where there is one more key than words.
    [[nodiscard]] const std::vector<std::string>& words_of_keys() const
    {
        return key_labels.empty() ? key_words() : key_labels;
    }
    /// The words of the query rows, after --query.
    [[nodiscard]] std::vector<std::string> words_of_queries() const;
    [[nodiscard]] const AnyTensor* find(std::string_view name) const; ///< in arrays, then in parameters; nullptr if absent
    [[nodiscard]] const AnyTensor* find(Item item) const { return find(name_of(item)); }
    [[nodiscard]] const std::vector<std::string>*
    words(Item item) const;                                            ///< nullptr where there are none, or it is no such item
    [[nodiscard]] const std::vector<Index>* integers(Item item) const; ///< likewise
    /// Of a list of them: (n), or (n, 2) where they are pairs.
    [[nodiscard]] static Shape shape_of_integers(Item item, const std::vector<Index>& list)
    {
        return is_paired(item) ? Shape{std::ssize(list) / 2, 2} : Shape{std::ssize(list)};
    }
    /// Whether a report prints the item; what says which part of the rest there is, always.
    [[nodiscard]] bool shows(Item item) const { return show.contains(item) || is_choice(item); }
    /// The number of a head by its place in an array that has them; mean_of_heads for the mean.
    [[nodiscard]] Index head_at(Index place, std::string_view array = name_of(Item::weights)) const;
    /// "head 2", or "mean of heads".
    [[nodiscard]] std::string name_of_head(Index place, std::string_view array = name_of(Item::weights)) const;
};

/// In the order of items.
void sort_arrays(std::vector<Array>& arrays);

} // namespace attn::model
