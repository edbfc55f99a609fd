// A recipe as a JSON object, on its own or as the "config" of a result.
#pragma once

#include "attn/model/recipe/overrides.hpp"
#include "attn/model/recipe/recipe.hpp"
#include "attn/model/recipe/trained_config.hpp"
#include "attn/report/json_writer.hpp"

namespace attn::report {

/// Whether the published numbers are written too; a result's config has none.
enum class WithPublished { no, yes };

/// What equals its default is left out where the format allows it; io/json/recipe.hpp reads the same object.
void write_recipe_object(JsonWriter& json, const model::Recipe& recipe, WithPublished published);

/// "dims" and "attention" of a recipe alone, as members of the object that is open.
void write_dims_and_attention(JsonWriter& json, const model::Recipe& recipe);

/// A step of the draws with other values of some of its fields. What goes with the initialisation that it had, or with being
/// drawn, is left out where a value takes that away; a value that does not go with the rest is written all the same.
[[nodiscard]] std::string step_with(const model::Step& step, const model::StepValues& values);

/// The "config" of a result of a whole trained model.
void write_config_object(JsonWriter& json, const model::TrainedConfig& config);

} // namespace attn::report
