// The options of `run`, laid over a recipe.
#pragma once

#include "attn/model/recipe.hpp"

namespace attn::model {

/// What the command line said; absent means: as the recipe has it.
struct Overrides {
    std::optional<Input> input; ///< of a sentence only the text counts; the three below apply to it
    std::optional<std::string> cross;
    std::optional<Tokenizer> tokenizer;
    std::optional<bool> casefold;
    Dims dims;
    std::optional<bool> output_projection; ///< on with more than one head unless said or the recipe decides
    std::optional<std::uint64_t> seed;     ///< replaces every seed of the recipe
    std::optional<Generator> generator;
    std::optional<Initialisation> init; ///< of every W_…
    std::optional<Dtype> dtype;
    std::optional<core::Rounding> rounding = {};
    std::optional<bool> causal;
    std::optional<core::Window> window;
    std::optional<double> scale; ///< 1 for "none"
    std::optional<double> softcap;
    std::optional<FileTensor> mask = {};
    std::optional<std::optional<Positions>> positions = {}; ///< nothing inside: none
    std::optional<FileParameters> parameters = {};          ///< instead of the projections that the recipe draws
    std::optional<FileEmbeddings> embeddings = {};
    std::vector<std::string> query;
    std::optional<bool> verify;
};

/// The recipe with the overrides in place; published numbers are dropped. Saying more than one head, and nothing about the
/// output projection, adds W_o as the last draw; saying one head drops it. With parameters from a file dims but the heads come
/// from there, and so does W_o. Throws Error(usage) when an override does not fit the recipe's input or generator.
[[nodiscard]] Recipe apply(Recipe recipe, const Overrides& overrides);

/// Whether the recipe draws W_o, or its file holds it (known once it is loaded).
[[nodiscard]] bool has_output_projection(const Recipe& recipe);

} // namespace attn::model
