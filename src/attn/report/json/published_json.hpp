// What an article states, in a recipe's JSON.
#pragma once

#include "attn/model/recipe/recipe.hpp"
#include "attn/report/json_writer.hpp"

namespace attn::report {

/// The members "published" and "precision", where there is something to state; io/json/published.cpp reads them.
void write_published(JsonWriter& json, const model::Recipe& recipe);

} // namespace attn::report
