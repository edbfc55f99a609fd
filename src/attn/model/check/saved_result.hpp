// A saved result as its leaves: what stands at each place of the document, as it stands there. `check` holds those of a file
// against those of the document that a run of its config writes; `compare`, `plot` and --params take arrays from them.
#pragma once

#include "attn/model/recipe/trained_config.hpp"
#include "attn/tensor/element.hpp"
#include "attn/tensor/text_list.hpp"
#include "attn/tensor/view.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attn::model {

/// A number, a word, or nested lists of them. The vocabulary is rows of a word and its id.
struct Leaf {
    std::string name; ///< "weights", "W_q", "summary.heads[0].pairs[1].weight", "likeliest[0].words[1].token"
    Shape shape;      ///< (): one alone
    TextList texts;   ///< flat: decimals, and "null" for a masked score; or words
    std::optional<ElementType> type = {}; ///< of numbers: what they were computed as, ids int64; none: words
    std::optional<LayerPlace> layer = {}; ///< of a whole trained model; the first has what all of them have in common
};

/// A layer of a whole trained model, and the two sections of a recipe that are its own; older files do not state them.
struct SavedLayer {
    Index number = 0;
    std::optional<Part> part = {}; ///< of a model of two stacks
    Recipe config;

    [[nodiscard]] LayerPlace place() const { return {part, number}; }
};

struct SavedResult {
    std::variant<Recipe, TrainedConfig> config;
    std::vector<SavedLayer> layers; ///< ascending, at least one; of a plain run none
    std::vector<Leaf> leaves;       ///< of each layer words, arrays, summary, verify and warnings; then logits and likeliest

    [[nodiscard]] const Leaf* find(std::string_view name, std::optional<LayerPlace> layer = {}) const; ///< nullptr: not stated
    /// The pairs of the head in whose summary there are most, 1 without a summary.
    [[nodiscard]] Index top() const;
};

/// What the leaves of this name tell together: "summary", "verify.weights", "likeliest"; an array tells itself.
[[nodiscard]] std::string_view whole_of(std::string_view name);

/// Words, which only results have: tokens, or a vocabulary.
struct NamedWords {
    std::string name;
    std::vector<std::string> words;
};
/// The arrays of numbers, each as the type that it was computed in, and tokens and vocabulary. In a whole trained model those
/// of a layer are called "layers.3.weights" or "cross.layers.3.weights", and the numbers of its summary
/// "layers.3.summary.heads.entropy", those of all heads one after the other. Throws Error(data) for a number that the type does
/// not hold.
struct ResultTensors {
    std::vector<StoredTensor> tensors;
    std::vector<NamedWords> words;
};
[[nodiscard]] ResultTensors tensors_of(const SavedResult& saved);

/// The numbers of a leaf. Throws Error(data) as tensors_of.
[[nodiscard]] StoredTensor tensor_of(const Leaf& leaf);

/// A stated decimal as the nearest double, or as the nearest float32. "null" is a masked score, -inf.
[[nodiscard]] double number_of(std::string_view text, ElementType type);

} // namespace attn::model
