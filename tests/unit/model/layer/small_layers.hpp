// Layers of a few numbers, and what is drawn of them.
#pragma once

#include "attn/model/layer/parameters.hpp"

namespace small {

using attn::Index;
using attn::model::Draw;
using attn::model::Initialisation;
using attn::model::ModelDims;
using attn::model::Recipe;
using attn::model::Seed;
using attn::model::Side;
using attn::model::Target;

inline constexpr ModelDims dims{.V = 6, .T = 5, .S = 5, .D = 8, .H = 2, .H_kv = 1, .d_k = 4, .d_v = 3};
inline constexpr ModelDims two_heads{.V = 6, .T = 5, .S = 5, .D = 8, .H = 2, .H_kv = 2, .d_k = 4, .d_v = 3};

inline Recipe projections(Initialisation init, Side side, std::optional<std::vector<attn::model::Length>> shape = {})
{
    Recipe recipe;
    recipe.draws = {Seed{1}, Draw{.target = Target::embedding, .init = Initialisation::normal}};
    for (const Target target : {Target::W_q, Target::W_k, Target::W_v}) {
        recipe.draws.emplace_back(Draw{.target = target, .init = init, .side = side});
    }
    std::get<Draw>(recipe.draws[2]).shape = std::move(shape);
    return recipe;
}

/// A wrapper of single heads: W_q, W_k, W_v of head 0, then of head 1, each nn.Linear(8, …, bias=True).
inline Recipe single_heads()
{
    Recipe recipe;
    recipe.draws = {Draw{.target = Target::embedding, .init = Initialisation::identity}, Seed{1}};
    const auto add = [&](Target target, Index head) {
        recipe.draws.emplace_back(Draw{.target = target, .init = Initialisation::linear, .head = head});
    };
    for (const Index head : {0, 1}) {
        for (const auto& [W, b] :
             {std::pair{Target::W_q, Target::b_q}, {Target::W_k, Target::b_k}, {Target::W_v, Target::b_v}}) {
            add(W, head);
            add(b, head);
        }
    }
    return recipe;
}

/// In this type.
template <typename Scalar>
attn::model::Drawn<Scalar> drawn(Recipe recipe, const attn::model::ParameterInputs& inputs)
{
    recipe.dtype = attn::dtype_of<Scalar>;
    return attn::model::draw_parameters<Scalar>(attn::model::plan_draws(recipe, inputs));
}

} // namespace small
