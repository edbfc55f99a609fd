// Gradients of a file held against those of a call: the mistake of the backward that gives all of them. One edit makes every
// gradient, so those that agree count as much as those that do not.
#pragma once

#include "attn/model/diagnose/together.hpp"

namespace attn::model::diagnose {

/// `arrays`: gradients of a call, each held against what attend() gave, without a diagnosis. They get one where some number
/// is beyond the tolerance: the one of all arrays together where that names something, or else their own.
[[nodiscard]] Together explain_gradients(const Call& given, std::vector<HeldArray>& arrays, const core::Work& work);

} // namespace attn::model::diagnose
