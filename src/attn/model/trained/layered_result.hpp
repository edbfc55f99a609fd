// What a run of a whole trained model gives: plain values, in the order and with the names of the JSON result.
#pragma once

#include "attn/model/recipe/trained_config.hpp"
#include "attn/model/run/result.hpp"

#include <string>
#include <vector>

namespace attn::model {

/// A word that a model expects at a place.
struct Guess {
    Index id = 0;
    std::string token;
    double probability = 0; ///< softmax over the vocabulary
};

/// The words that are likeliest at a place, the likeliest first.
struct Guesses {
    Index position = 0; ///< of the token that is masked, or behind which the word would come
    std::vector<Guess> words;
};

struct LayeredResult {
    TrainedConfig config;
    std::vector<std::string> tokens; ///< (T), fit for people: "cross", "##ing", " the"
    std::vector<Index> token_ids;    ///< (T); of words that were joined, none
    std::vector<Index> token_types;  ///< (T); empty without a tokenizer, like the next
    std::vector<Index> offsets;      ///< (T, 2): the characters of its sentence that a token stands for, begin and end
    std::vector<Result> layers;      ///< those that were asked for, ascending; each has the tokens, and its arrays
    std::optional<AnyTensor> logits; ///< (T, V)
    std::vector<Guesses> guesses;    ///< with logits
    std::vector<std::string> warnings;
    Show show; ///< what a report prints of the above

    [[nodiscard]] const Result& front() const { return layers.front(); }
};

} // namespace attn::model
