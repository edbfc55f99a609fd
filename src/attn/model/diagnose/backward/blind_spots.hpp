// What a test of gradients cannot see: the mistakes of a backward whose gradients, all of those that are tested, pass on its
// inputs.
#pragma once

#include "attn/model/diagnose/blind_spots.hpp"

namespace attn::model::diagnose {

/// blind_spots() of gradients; `right`: what attend() gave in the call. Throws Error(usage) where mistakes cannot be made: with
/// weights that are rounded, and in heads that are too large.
[[nodiscard]] BlindSpots backward_blind_spots(const ResolvedAttend& resolved, const std::vector<StoredTensor>& right,
                                              const Criterion& criterion, const core::Work& work, bool changes);

} // namespace attn::model::diagnose
