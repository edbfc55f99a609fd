// What parameters a run has, and where the numbers of each come from: judged once, as plain values, before one is drawn.
#pragma once

#include "attn/model/layer/initialise.hpp"
#include "attn/model/layer/model_dims.hpp"
#include "attn/tensor/view.hpp"

#include <span>
#include <variant>
#include <vector>

namespace attn::model {

class Origin;

/// A parameter as a file holds it.
struct StoredParameter {
    Target target;
    Side side; ///< of a W_…
    TensorView tensor;
};

/// What parameters are made for.
struct ParameterInputs {
    const ModelDims& dims;
    bool cross = false;
    std::span<const StoredParameter> stored = {}; ///< what Recipe::parameters names
    const Origin* origin = nullptr;               ///< of the steps; none: all are the recipe's
};

/// Zeros, with ones at these places.
struct Ones {
    std::vector<Index> places;
};

/// A parameter, a head of one, or what is thrown away.
struct PlannedDraw {
    Target target = Target::none;                              ///< none: thrown away; it only moves the stream
    Side side = Side::left;                                    ///< of a W_…
    Shape shape = {};                                          ///< of the whole parameter; a vector has one dimension
    std::variant<Ones, Distribution, TensorView> numbers = {}; ///< a view: those of a file, or stated
    Index count = 0;                                           ///< so many of them are made,
    Index first = 0, kept = 0;                                 ///< and so many from there on are kept
    Index at = 0;                                              ///< from there on in the whole parameter
    std::optional<Index> padding = {};                         ///< the row that is zero then
    std::size_t step = 0;                                      ///< of Recipe::draws, for messages
};

/// Refers to the numbers that the recipe states, and to those of its file.
struct DrawPlan {
    Generator generator;
    std::vector<std::variant<Seed, PlannedDraw>> steps; ///< those of files first, then in the order of the recipe
};

/// Throws Error(data), or Error(usage) where the command line has changed the step, for a draw before the first seed, a tensor
/// drawn twice or missing, a shape that is not one of those of parameters.hpp, naming the draw and both shapes, and numbers
/// that the recipe's dtype does not hold.
[[nodiscard]] DrawPlan plan_draws(const Recipe& recipe, const ParameterInputs& inputs);

} // namespace attn::model
