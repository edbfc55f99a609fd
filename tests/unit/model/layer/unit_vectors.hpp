// A computation whose numbers are plain to the eye.
#pragma once

#include "attn/model/recipe/recipe.hpp"

namespace attn::model {

inline Draw draw(Target target, Initialisation init)
{
    return Draw{.target = target, .init = init};
}

/// Two ids whose embeddings are the unit vectors; every projection is the identity. So the scores are ((1, 0), (0, 1)), and the
/// weights (a, b), (b, a) with a = e/(e+1) = 0.7310586 and b = 1/(e+1) = 0.2689414.
inline Recipe unit_vectors()
{
    Recipe recipe;
    recipe.input = IdsInput{{0, 1}, {"x", "y"}};
    recipe.dims = {.embed_dim = 2, .heads = 1, .kv_heads = {}, .d_k = 2, .d_v = 2, .vocab_size = 2};
    recipe.draws = {Seed{0}, draw(Target::embedding, Initialisation::identity), draw(Target::W_q, Initialisation::identity),
                    draw(Target::W_k, Initialisation::identity), draw(Target::W_v, Initialisation::identity)};
    recipe.attention.scale = 1;
    return recipe;
}

} // namespace attn::model
