// What a run gives: plain values, in the order and with the names of the JSON result.
//
// One type for every source. A sentence or a recipe makes one layer, without a number; a whole trained model makes several,
// each with its own; a saved result or tensors of another program are read into the same. What is true of all layers (words,
// rows, what is shown) stands once, in Result; what each has of its own stands in its Layer.
//
//   T tokens, S key tokens, H heads, H_kv key/value heads, V words of the vocabulary
#pragma once

#include "attn/model/recipe/items.hpp"
#include "attn/model/recipe/recipe.hpp"
#include "attn/model/recipe/trained_config.hpp"
#include "attn/model/run/summary.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// A word that a model expects at a place.
struct Guess {
    Index id = 0;
    std::string token;
    double probability = 0; ///< softmax over the vocabulary
};

/// The words that are likeliest at a place, the likeliest first.
struct Guesses {
    Index position = 0; ///< of the token that is masked, or after which the word would come
    std::vector<Guess> words;
};

/// The attention of one layer.
struct Layer {
    std::optional<Index> number;      ///< in its model, from 0; none of a plain run
    std::optional<Part> part{};       ///< of a model of two stacks
    Recipe config;                    ///< of a plain run all of it; of a model's layer dims.heads, dims.kv_heads and attention
    std::vector<Index> heads;         ///< those of several that were kept, ascending; mean_of_heads; empty: all
    std::vector<Index> key_heads;     ///< the key/value heads that they read
    std::vector<Array> arrays;        ///< embeddings … lse, those that were asked for and exist, in the order of items
    std::optional<Summary> summary{}; ///< only where it was asked for
    std::vector<Guesses> guesses{};   ///< with lens, at each query
    std::vector<Index> alignment{}; ///< of each query the key that it looks at most, as the mean over the heads that are there

    /// Of a plain run that of layer 0.
    [[nodiscard]] LayerPlace place() const { return {part, number.value_or(0)}; }
    [[nodiscard]] const AnyTensor* find(std::string_view name) const; ///< nullptr if absent
    [[nodiscard]] const AnyTensor* find(Item item) const { return find(name_of(item)); }
    /// The number of a head by its place in an array that has them; mean_of_heads for the mean.
    [[nodiscard]] Index head_at(Index place, std::string_view array = name_of(Item::weights)) const;
    /// "head 2", or "mean of heads".
    [[nodiscard]] std::string name_of_head(Index place, std::string_view array = name_of(Item::weights)) const;
};

struct Result {
    std::optional<TrainedConfig> model = {}; ///< what a whole trained model was asked for; none of a plain run

    // The words.
    std::vector<std::string> tokens;     ///< (T) the words; with ids the labels, or the ids as strings; of a model's pieces fit
                                         ///< for people: "cross", "##ing", " the"; where a decoder runs the target's
    std::vector<std::string> key_tokens; ///< (S) only with a second sequence, such as the keys' of cross-attention, or beside a
                                         ///< target the source
    std::optional<std::vector<std::string>> vocabulary; ///< sorted; a word's id is its place. Absent with ids and positions
    std::vector<Index> token_ids, key_token_ids;        ///< empty for bare positions, and for pieces joined to words
    std::vector<Index> token_types;                     ///< (T); of a model with a tokenizer, like the next
    std::vector<Index> offsets;          ///< (T, 2): the characters of its sentence that a token stands for, begin and end
    std::vector<Index> query_positions;  ///< the rows that --query chose; empty: all
    std::vector<std::string> key_labels; ///< the words of the keys and "(bias)", where there is one more key than words
    bool cross = false;                  ///< whether there is a second sequence

    std::vector<Array> parameters;                     ///< as drawn: embedding, W_q, W_k, W_v, W_o, …; none of a model
    std::vector<Layer> layers = std::vector<Layer>(1); ///< those that were asked for, ascending, at least one
    std::optional<AnyTensor> logits = {};              ///< (T, V), after the last layer of a model
    std::vector<Guesses> guesses = {};                 ///< with logits, where the sentence leaves a word open
    std::vector<Difference> verify;                    ///< only with Recipe::verify
    std::vector<std::string> warnings;
    std::string_view portable_because = {}; ///< what an isa that was asked for does not compute; empty: it did
    Show show;                              ///< what a report prints of the above
    bool untrained = false;                 ///< of a model whose weights are drawn
    bool foreign = false;                   ///< numbers of another program, of which no config says anything but the words

    /// The one layer of a plain run, the first of a model's.
    [[nodiscard]] const Layer& front() const { return layers.front(); }
    [[nodiscard]] Layer& front() { return layers.front(); }
    /// The recipe of a plain run.
    [[nodiscard]] const Recipe& config() const { return layers.front().config; }
    [[nodiscard]] Recipe& config() { return layers.front().config; }

    /// Whether the keys of a layer are another sequence than its queries.
    [[nodiscard]] bool is_cross(const Layer& layer) const { return cross && layer.part.value_or(Part::cross) == Part::cross; }
    /// The words of a layer's queries, before --query: of an encoder's beside a target those of the second sequence.
    [[nodiscard]] const std::vector<std::string>& row_words(const Layer& layer) const
    {
        return cross && layer.part == Part::encoder ? key_tokens : tokens;
    }
    [[nodiscard]] const std::vector<Index>& row_ids(const Layer& layer) const
    {
        return cross && layer.part == Part::encoder ? key_token_ids : token_ids;
    }
    [[nodiscard]] const std::vector<std::string>& key_words(const Layer& layer) const
    {
        return is_cross(layer) ? key_tokens : row_words(layer);
    }
    [[nodiscard]] const std::vector<std::string>& key_words() const { return key_words(front()); }
    /// With a label where there is one more key than words.
    [[nodiscard]] const std::vector<std::string>& words_of_keys(const Layer& layer) const
    {
        return key_labels.empty() ? key_words(layer) : key_labels;
    }
    [[nodiscard]] const std::vector<std::string>& words_of_keys() const { return words_of_keys(front()); }
    /// The words of the query rows, after --query.
    [[nodiscard]] std::vector<std::string> words_of_queries(const Layer& layer) const;
    [[nodiscard]] std::vector<std::string> words_of_queries() const { return words_of_queries(front()); }
    /// Where in the sentence a row of the queries stands.
    [[nodiscard]] Index position_of_row(Index row) const
    {
        return query_positions.empty() ? row : query_positions[static_cast<std::size_t>(row)];
    }
    /// In a layer, otherwise among what is of none, the parameters and the logits; nullptr if absent.
    [[nodiscard]] const AnyTensor* find(std::string_view name, const Layer& layer) const;
    [[nodiscard]] const AnyTensor* find(std::string_view name) const { return find(name, front()); }
    [[nodiscard]] const AnyTensor* find(Item item) const { return find(name_of(item)); }
    /// nullptr where there are none, or it is no such item.
    [[nodiscard]] const std::vector<std::string>* words(Item item) const;
    /// Likewise; the heads are those of a layer.
    [[nodiscard]] const std::vector<Index>* integers(Item item, const Layer& layer) const;
    /// Of a list of them: (n), or (n, 2) where they are pairs.
    [[nodiscard]] static Shape shape_of_integers(Item item, const std::vector<Index>& list)
    {
        return is_paired(item) ? Shape{std::ssize(list) / 2, 2} : Shape{std::ssize(list)};
    }
    /// Whether a report prints the item; what says which part of the rest there is, always.
    [[nodiscard]] bool shows(Item item) const { return show.contains(item) || is_choice(item); }
};

/// In the order of items.
void sort_arrays(std::vector<Array>& arrays);

} // namespace attn::model
