// The mistakes that people make around attention: in words, draws, projections and positions. Each changes a recipe, and the
// run is made again.
#pragma once

#include "attn/model/diagnose/mistakes.hpp"
#include "attn/model/run/result.hpp"

#include <optional>
#include <span>

namespace attn::model::diagnose {

/// A recipe, and what it gives: its parameters, embeddings, queries, keys and values at least.
struct Made {
    const Recipe& recipe;
    const Result& result;
};

struct RunMistake : MistakeInfo {
    /// The recipe with the mistake; nothing where it cannot be made. `number` is that of the mistake.
    std::optional<Recipe> (*made)(const Made& right, Index number);
    Index number = 0; ///< which seed, order or initialisation
    /// What it does to queries, keys and values once they are made; their attention is then computed again.
    void (*alter)(Result& result, const Recipe& right) = nullptr;
};

[[nodiscard]] std::span<const RunMistake> run_mistakes();
/// Other seeds than that of the recipe: those that people use, then all up to 999.
[[nodiscard]] std::span<const RunMistake> seeds();
inline constexpr std::size_t usual_seeds = 12; ///< the first of seeds()

} // namespace attn::model::diagnose
