// A saved result of a whole trained model, as read, and its recomputation.
#pragma once

#include "attn/model/check/compare.hpp"
#include "attn/model/trained/run_trained.hpp"

namespace attn::model {

struct SavedLayers {
    TrainedConfig config;
    std::optional<Index> index;      ///< from --lines
    std::vector<SavedResult> layers; ///< at least one; the first has what is stated of all of them, and the warnings
    std::optional<StatedArray> logits;
    std::vector<StatedArray> guesses; ///< numbers and words by their place: "likeliest[0].words[1].token"
};

/// Computes the config again and compares everything that is stated, as check() does with a result.
[[nodiscard]] CheckReport check(const SavedLayers& saved, const Tolerance& tolerance, const Trained& trained,
                                const RunSettings& settings);

/// As tensors_of a result; those of a layer are called "layers.3.weights".
[[nodiscard]] ResultTensors tensors_of(const SavedLayers& saved);

/// The layer of that number, or where there is one alone, that one; with the words. Throws Error(usage) for one that is not
/// there, and where one must be named.
[[nodiscard]] SavedResult layer_of(const SavedLayers& saved, std::optional<Index> layer);

} // namespace attn::model
