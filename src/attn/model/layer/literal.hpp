// Tensors that a recipe states number by number.
#pragma once

#include "attn/model/recipe/recipe.hpp"
#include "attn/tensor/view.hpp"

#include <map>
#include <optional>
#include <string>

namespace attn::model {

struct FieldInfo;

/// The dims of the recipe and, where it leaves one out, what its draws say: the shapes of those that it states, the lengths in
/// numbers of others, and how many heads it draws one by one. They may contradict each other.
struct StatedDims {
    Dims dims = {};
    std::map<const FieldInfo*, std::string> places = {}; ///< of what a draw says: "draws[1].shape"
};
[[nodiscard]] StatedDims stated_dims(const Recipe& recipe);
[[nodiscard]] Dims dims_of(const Recipe& recipe);

/// How many numbers each of the given keys has, if that is stated.
[[nodiscard]] std::optional<Index> stated_key_size(const Recipe& recipe);

/// The numbers of the literal, which it must outlive. Throws Error(data) naming `what` and the first number that is beyond the
/// type of the run, and the first integer that it does not hold exactly.
[[nodiscard]] TensorView checked_view(const Literal& literal, Dtype dtype, const std::string& what);

/// A mask that the recipe states, as a file would hold it: bool or float64; of a batch (B, H, T, S) that of the entry if
/// the recipe says one. Nothing when it states none.
[[nodiscard]] std::optional<StoredTensor> stated_mask(const Recipe& recipe);

} // namespace attn::model
