// Recipes as JSON ("attn-cli/recipe/1"); model/recipe/recipe_fields.hpp declares their fields.
#pragma once

#include "attn/model/recipe/trained_config.hpp"
#include "attn/model/trained/drawn_model.hpp"

#include <string>
#include <string_view>

namespace attn::io {

class JsonValue;

/// Throws Error(data): malformed JSON (with line and column), an unknown or repeated key, a wrong type or range, each with its
/// place ("draws[2].shape"), the value and what is allowed. Never recurses deeper than a fixed limit.
[[nodiscard]] model::Recipe parse_recipe(std::string_view json);

/// The same of the "config" of a result, where a linear W_o that says no side is from the right, as it was before recipes had
/// to say it.
[[nodiscard]] model::Recipe parse_config(std::string_view json);
[[nodiscard]] model::Recipe recipe_of(const JsonValue& value);
/// A section of it alone, "attention".
void read_section(const JsonValue& value, std::string_view section, model::Recipe& recipe);
/// One value of a field, or one step, at `place` as errors name it.
[[nodiscard]] model::FieldValue parse_value(std::string_view json, const model::Allowed& allowed, const std::string& place);
[[nodiscard]] model::Step parse_step(std::string_view json, const std::string& place);
/// The config of a whole trained model, likewise.
[[nodiscard]] model::TrainedConfig trained_config_of(const JsonValue& value);

/// draws.json of a tutorial's model.
[[nodiscard]] model::ModelDraws parse_model_draws(std::string_view json);

/// The two lists of a recipe that state numbers, "published" and "precision" (published.cpp).
[[nodiscard]] std::vector<model::Published> published_of(const JsonValue& value);
[[nodiscard]] std::vector<model::PrecisionClaim> precision_of(const JsonValue& value);
/// What a result lists as its parameters; and what those two lists can speak of: these, and arrays of a result.
[[nodiscard]] std::vector<std::string_view> parameter_names();
[[nodiscard]] std::vector<std::string_view> stated_names();

} // namespace attn::io
