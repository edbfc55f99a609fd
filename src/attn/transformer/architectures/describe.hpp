// config.json → the description of its architecture.
//
// An architecture is one function in a file of this folder, and one line of the list in describe.cpp.
#pragma once

#include "attn/transformer/architecture.hpp"
#include "attn/transformer/config.hpp"

#include <string_view>
#include <vector>

namespace attn::transformer {

/// What model_type and the other keys say. Throws Error(data) for a model_type that is not known, and for what Config throws: a
/// value that is not computed here, a key that is missing or not known.
[[nodiscard]] Architecture describe(Config config);

/// What the values of a generation_config.json say of a target, in place of what config.json does: the same keys, of which
/// others are no rule here. Throws Error(data) for values of another kind.
[[nodiscard]] TargetPart with_generation(TargetPart target, Config values);

/// The model types that are known, in alphabetical order.
[[nodiscard]] std::vector<std::string_view> model_types();

} // namespace attn::transformer
