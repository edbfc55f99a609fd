#include "attn/model/recipe/recipe.hpp"

namespace attn::model {

Recipe default_recipe()
{
    const auto draw = [](Target target, Initialisation init) { return Draw{.target = target, .init = init}; };
    Recipe recipe;
    recipe.draws = {
        Seed{123},
        draw(Target::embedding, Initialisation::normal),
        draw(Target::W_q, Initialisation::uniform),
        draw(Target::W_k, Initialisation::uniform),
        draw(Target::W_v, Initialisation::uniform),
    };
    return recipe;
}

} // namespace attn::model
