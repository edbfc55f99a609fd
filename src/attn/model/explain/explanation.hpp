// The arithmetic of one query word, in one head, term by term.
//
//   queries, keys, …             = Σ products (projected.hpp), of one number of the vector
//   scores        q·k            = Σ products           products = q[i]·k[i], i = 0 … d_k-1
//     cosine and its like        = Σ products / (|q|·|k|), what ScoreFunction::of_product says
//     general                    = Σ products           products = q[i]·a[i], a = W_a·k + b_Wa
//     additive                   = Σ products + b_va    products = v_a[i]·tanh(a[i] + u[i]), a = W_a·q + b_Wa, u = U_a·k + b_Ua
//   scaled_scores                = score · scale
//   capped_scores                = cap · tanh(scaled / cap)
//   masked_scores                = capped + mask + distance, -inf where a key is masked; with masks before the scale it is
//                                  score + mask + distance, and scaled = masked · scale
//   weights                      = exponential / sum    exponential = exp(s - maximum) of the last score s
//   dropped_weights              = weight / (1 - p), or 0
//   head_context                 = Σ weighted_value     weighted_value = weight · value, over the keys; with dropout that of
//                                                       the dropped weight
//
// Every value that a result holds is taken from it; only the terms between two of them are made here, in double. Added up in
// index order, as the portable core does, and rounded to the type of the arithmetic, they give the result's next value.
#pragma once

#include "attn/model/explain/projected.hpp"
#include "attn/model/recipe/trained_config.hpp"
#include "attn/model/run/result.hpp"
#include "attn/model/run/run.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attn::model {

/// What is to be explained.
struct Question {
    Index position = 0;    ///< of the query word
    std::size_t layer = 0; ///< its place among those of the result
    Index head = 0;
    std::optional<std::string> key = {}; ///< a word or position of the keys; absent: all keys alike
    Index component = 0;                 ///< which number of query, key, value and output is explained
};

/// The attention that is asked about, as it is known before any of it is computed.
struct Explainable {
    const std::vector<std::string>& tokens; ///< (T)
    std::vector<std::string> keys;          ///< (S), and the label of a key that is a parameter
    Index heads = 1, d_k = 0, d_v = 0;
    const FieldInfo* heads_field = nullptr; ///< that says how many heads there are, if one does
    Index hidden = 0;                       ///< numbers of the hidden layers of additive scores, of all heads
    Index outputs = 0;                      ///< 0: there is no output projection
    bool casefold = false;
    std::string of_keys = "the input"; ///< as name_of_words has it
};
/// Throws as heads_of, Error(usage) for a key or component that is not there, Error(too_large) when the terms would need too
/// much memory.
void require_explainable(const Question& question, const Explainable& there, const RunSettings& settings);

/// Why a query does not see a key.
enum class Hidden { no, causal, window, mask };
inline constexpr std::array<std::string_view, 4> hidden_names{"", "causal", "window", "mask"};

/// One key word and what leads to its share of the context.
struct ExplainedKey {
    std::string word;
    std::vector<double> key;               ///< (d_k)
    std::vector<double> aligned = {};      ///< (d_a) what general and additive scores make of the key, a or u
    std::vector<double> hidden_layer = {}; ///< (d_a) tanh(a + u) of additive scores
    double length = 0;                     ///< |k|, where scores are not the product alone
    std::vector<double> products;          ///< (d_k), of additive scores (d_a)
    double score = 0, scaled = 0;          ///< of the result, as are the next two
    std::optional<double> capped = {};     ///< with a softcap
    std::optional<double> masked = {};     ///< with masks or biases
    double mask = 0;                       ///< what the mask's file, or a model, adds; -inf: this key is not seen
    double distance = 0;                   ///< what ALiBi adds: -slope·|position - key's position|
    Hidden hidden = Hidden::no;            ///< why `masked` is -inf
    double exponential = 0;                ///< exp(s - maximum); of overflowed scores 1, beside which all others are 0
    double weight = 0;                     ///< of the result, as is the next one
    std::optional<double> dropped = {};    ///< with dropout
    std::vector<double> value;             ///< (d_v)
    std::vector<double> weighted_value;    ///< (d_v)

    /// What is multiplied by the query, or by v_a of additive scores, number by number.
    [[nodiscard]] const std::vector<double>& factors() const
    {
        return !hidden_layer.empty() ? hidden_layer : !aligned.empty() ? aligned : key;
    }
    /// s, which goes into the softmax.
    [[nodiscard]] double last_score(core::MaskAt mask_at) const
    {
        return mask_at == core::MaskAt::scores ? scaled : masked.value_or(capped.value_or(scaled));
    }
    /// What the value is multiplied by.
    [[nodiscard]] double last_weight() const { return dropped.value_or(weight); }
};

/// Where in a whole trained model a row of attention is.
struct ModelPlace {
    TrainedConfig config;
    Index layer = 0;
    bool normed = false;            ///< x has passed the norm in front of the attention
    bool biased = false;            ///< the model adds a number for the distance of query and key
    std::string_view frequencies{}; ///< what becomes of those of rotary positions; empty: nothing
};

/// What such a model has, apart from the layer of its result.
struct LayerTerms {
    ModelPlace place;
    std::vector<Target> biases = {};
    std::function<std::optional<Projected>(const Component& component, const std::vector<double>& context)> projected;
};

struct Explanation {
    Recipe config;
    std::optional<ModelPlace> place = {}; ///< of a whole trained model; `config` has the attention of its layer
    std::vector<std::string> warnings;
    std::vector<std::string> tokens;     ///< (T)
    std::vector<std::string> key_tokens; ///< only with cross-attention
    bool cross = false;
    Index head = 0, heads = 1, kv_head = 0, kv_heads = 1;

    // The query word.
    Index position = 0;
    std::optional<Index> id = {};  ///< its row of the embedding table
    bool id_by_vocabulary = false; ///< the id is the word's place in the sorted vocabulary
    Index table_rows = 0;
    std::vector<double> embedding; ///< (D) that row; only where positions are added to it, so that it is not x yet
    std::vector<double> added;     ///< (D) what its position adds: sinusoids, or a row of position_embedding
    bool learned = false;          ///< the latter
    std::vector<double> x;         ///< (D) what the projections read; empty: queries, keys and values are given
    std::vector<double> query;     ///< (d_k)
    bool swapped = false;          ///< ScoreOrder::key_query: `query` is the word's key, and `key` of each other its query
    std::vector<Target> biases;    ///< those that there are
    std::vector<Target> on_right;  ///< those matrices that stand to the right of what they read
    Index component = 0;           ///< of the projections
    /// One number of the query, of a key, of its value and of the output, but for those whose vectors are shorter. The key is
    /// the one that was asked for, otherwise that of the word with the largest weight; one that is a parameter has none.
    std::vector<Projected> projections;
    Index keys_read = 0, values_read = 0; ///< how many numbers of a word W_k and W_v read

    // What its scores are made with.
    std::vector<double> aligned = {}; ///< (d_a) a of additive scores
    std::vector<double> v_a = {};     ///< (d_a)
    double b_va = 0;
    double length = 0; ///< |q|, where scores are not the product alone

    // Its row, from the scores to the context.
    double scale = 1;
    std::vector<ExplainedKey> keys; ///< (S)
    std::optional<Index> key = {};  ///< the one that was asked for
    double maximum = 0;             ///< of the last scores
    double sum = 0;                 ///< of the exponentials; 0: no key is seen, and every weight is 0
    std::vector<double> context;    ///< (d_v) of this head
    std::vector<double> joined;     ///< (H·d_v) the contexts of all heads
    std::vector<double> output;     ///< (D) after the output projection, if there is one

    /// Queries, keys and values are given, without embeddings and projections.
    [[nodiscard]] bool given() const { return x.empty(); }
    [[nodiscard]] const Projected* projection(Target W) const; ///< nullptr where there is none
    /// What is multiplied by each key's factors().
    [[nodiscard]] const std::vector<double>& factors() const { return v_a.empty() ? query : v_a; }
};

/// What a step of the recipe's arithmetic leaves of a number: a float with Rounding::step, the number itself otherwise.
[[nodiscard]] double after_step(const Recipe& recipe, double number);

/// The one of these places, which `typed` chose. Throws Error: usage or data, as `origin` says, where they are several.
[[nodiscard]] Index one_position(const std::vector<Index>& places, const std::vector<std::string>& typed,
                                 const std::vector<std::string>& words, const Origin& origin);

/// The place of the one word that the recipe's query chooses. Throws Error: usage when it chooses none, usage or data, as
/// `origin` says, when it chooses several; each lists the places. Otherwise as query_positions.
[[nodiscard]] Index query_position(const Recipe& recipe, const Origin& origin);

/// A run whose result has everything that the explanations of one word take from it. Throws as run(), and as
/// require_explainable().
[[nodiscard]] Result run_for(const std::vector<Question>& questions, Recipe recipe, RunSettings settings);

/// `settings` are those of the run, of which the mask counts; the question has been judged before it.
/// `terms`: of a whole trained model, whose layer has in `embeddings` what its projections read, and whose bias is the mask.
[[nodiscard]] Explanation explain(const Result& result, const Question& question, const RunSettings& settings,
                                  const LayerTerms* terms = nullptr);

} // namespace attn::model
