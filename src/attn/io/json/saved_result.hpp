// Saved results ("attn-cli/result/1", of a whole trained model "attn-cli/result/2") as JSON, kept decimal by decimal.
#pragma once

#include "attn/model/check/saved_result.hpp"
#include "attn/model/recipe/documents.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace attn::io {

/// Throws Error(data) as parse_recipe does; unknown keys are refused, ragged arrays too.
[[nodiscard]] model::SavedResult parse_saved_result(std::string_view json);

/// What `run --lines` wrote in the place of a line that could not be computed: the message. Throws Error(data).
[[nodiscard]] std::string parse_failed_line(std::string_view json);

using model::Document;

/// What a JSON text says it is by its "schema" (a failed line has none), without looking at the rest more than needed. Throws
/// Error(data) when it is no JSON object.
[[nodiscard]] Document kind_of(std::string_view json);
/// Throws Error(data) that says what the "schema" of a text is, and what it may be.
[[noreturn]] void refuse_schema(std::string_view json, std::initializer_list<Document> allowed);

} // namespace attn::io
