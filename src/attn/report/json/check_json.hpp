// What an article states, in a recipe's JSON, and the report of `check` on it: one object on one line, "schema":
// "attn-cli/check/1".
#pragma once

#include "attn/model/check/check.hpp"
#include "attn/model/recipe/recipe.hpp"
#include "attn/report/json_writer.hpp"
#include "attn/tensor/buffer.hpp"

#include <string_view>

namespace attn::report {

/// The members "published" and "precision", where there is something to state; io/json/published.cpp reads them.
void write_published(JsonWriter& json, const model::Recipe& recipe);

void write_check_json(const model::CheckReport& report, std::string_view name, Buffer& buffer);

/// What could not be checked, and the exit code that says why.
void write_check_error_json(std::string_view name, int code, std::string_view message, Buffer& buffer);

} // namespace attn::report
