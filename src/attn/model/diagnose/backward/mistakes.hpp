// The mistakes that people make in the backward of attention, as data like those of the forward (mistakes.hpp): a row each,
// with the step of variant.hpp that it edits. Every mistake of the forward whose gradients are known is among them, too: made
// on both sides, and in the backward alone.
//
// (Issues and pull requests about kernels' gradients; seen_in_public.hpp counts forward mistakes alone.)
#pragma once

#include "attn/model/diagnose/mistakes.hpp"
#include "attn/model/recipe/items.hpp"

namespace attn::model::diagnose {

/// Those of the backward, also "backward-causal-missing"; those of the forward keep their place in mistakes().
[[nodiscard]] std::span<const Mistake> backward_mistakes();

/// Of both lists, those that change one of these gradients; and of them those that can be made in this call.
[[nodiscard]] std::vector<const Mistake*> backward_mistakes_of(Show gradients);
[[nodiscard]] std::vector<const Mistake*> backward_mistakes_in(const Call& call, Show gradients);

} // namespace attn::model::diagnose
