// A tutorial's model: weights that are drawn one after the other, as its modules are made, instead of trained ones.
//
// A draw makes the tensor that the architecture calls by that name. Draws in a row whose names have a * are those of a block:
// all of them are made for layer 0, then for layer 1, and so on, with the layer's number for *. Norms that are not drawn have
// the weights 1 and biases 0 with which PyTorch begins.
#pragma once

#include "attn/model/layer/initialise.hpp"
#include "attn/model/recipe/recipe.hpp"
#include "attn/tensor/view.hpp"
#include "attn/transformer/architecture.hpp"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace attn::model {

struct TensorDraw {
    std::string tensor; ///< "layers.*.query.weight"
    Draw numbers;       ///< its init, with what belongs to that, and head: only the rows of this one
};

struct ModelDraws {
    Generator generator = Generator::torch;
    std::vector<std::variant<Seed, TensorDraw>> steps;
};

/// A tensor before anything is drawn for it.
struct PlannedTensor {
    Shape shape;
    float fill = 0; ///< 1: the weight of a norm that is not drawn
};
/// Rows of one.
struct WeightDraw {
    std::string tensor;
    Index at, count; ///< of its numbers
    Distribution numbers;
};
/// All that there is to draw, as plain values.
struct WeightPlan {
    Generator generator;
    std::map<std::string, PlannedTensor> tensors; ///< by name
    std::vector<std::variant<Seed, WeightDraw>> steps;
};

/// Shapes are the architecture's; weights (out, in) have the fans of a layer, and biases those of the weight beside them.
/// Throws Error(data), naming the draw: one before the first seed, of a tensor or head that the architecture does not have, one
/// made twice or in part, or an init that does not go with its shape.
[[nodiscard]] WeightPlan plan_weights(const transformer::Architecture& architecture, const ModelDraws& draws);

[[nodiscard]] std::vector<NamedTensor> draw_weights(const WeightPlan& plan);

/// Throws Error(too_large) where all of them, and the numbers of a draw before they are rounded, take more than `limit` bytes.
void require_room_for_weights(const transformer::Architecture& architecture, Index limit);

} // namespace attn::model
