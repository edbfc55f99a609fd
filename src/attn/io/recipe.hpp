// Recipes as JSON ("attn-cli/recipe/1"); the format is described in README.md and in data/schemas/recipe.json.
#pragma once

#include "attn/model/recipe.hpp"

#include <string_view>

namespace attn::io {

/// Throws Error(data): malformed JSON (with line and column), an unknown or repeated key, a wrong type or range, each with its
/// place ("draws[2].shape"), the value and what is allowed. Never recurses deeper than a fixed limit.
[[nodiscard]] model::Recipe parse_recipe(std::string_view json);

} // namespace attn::io
