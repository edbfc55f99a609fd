// The options of `run`, laid over a recipe.
#pragma once

#include "attn/model/recipe.hpp"

namespace attn::model {

/// What the command line said; absent means: as the recipe has it.
struct Overrides {
    std::optional<Input> input;
    std::optional<Tokenizer> tokenizer; ///< these two change a sentence that the recipe brought
    std::optional<bool> casefold;
    Dims dims;
    std::optional<bool> output_projection; ///< on with more than one head unless said or the recipe decides
    std::optional<std::uint64_t> seed;     ///< replaces every seed of the recipe
    std::optional<Generator> generator;
    std::optional<Initialisation> init; ///< of every W_…
    std::optional<Dtype> dtype;
    std::optional<bool> causal;
    std::optional<core::Window> window;
    std::optional<double> scale; ///< 1 for "none"
    std::optional<double> softcap;
    std::vector<std::string> query;
    std::optional<bool> verify;
};

/// The recipe with the overrides in place; published numbers are dropped. Throws Error(usage) when an override contradicts
/// what the recipe fixes (a literal shape), naming both.
[[nodiscard]] Recipe apply(Recipe recipe, const Overrides& overrides);

/// True for the built-in default as well as for a recipe that leaves the output projection to the number of heads.
[[nodiscard]] bool has_output_projection(const Recipe& recipe);

} // namespace attn::model
