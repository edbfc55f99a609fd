// The JSON documents that are written and read again: what each calls itself, and the keys of its objects, in their order. The
// fields of a recipe (recipe_fields.hpp, trained_config.hpp), the items of a result (items.hpp) and the numbers of a summary
// (model/check/summary_members.hpp) have tables of their own, and what is not here stands there.
#pragma once

#include "attn/model/recipe/trained_config.hpp"

namespace attn::model {

/// A failed line is what `run --lines` writes in the place of a result that could not be computed: it has no "schema".
enum class Document : std::uint8_t { recipe, result, layers, tensor, failed_line, unknown };
/// Their "schema".
inline constexpr std::array<std::string_view, 4> document_names{field::schema_names[0], "attn-cli/result/1",
                                                                "attn-cli/result/2", "attn-cli/tensor/1"};
[[nodiscard]] constexpr std::string_view name_of(Document document)
{
    return document_names.at(static_cast<std::size_t>(document));
}

namespace key {

// A result, beside its items; and that of a whole trained model, beside those that its layers have in common.
inline constexpr std::string_view schema = field::schema.name(), index = "index", config = "config", warnings = "warnings",
                                  verify = field::verify.name(), layers = trained_field::layers.name(), likeliest = "likeliest";
inline constexpr std::array of_result{schema, index, config, verify, warnings};
inline constexpr std::array of_layers{schema, index, config, layers, name_of(Item::logits), likeliest, warnings};

// A layer, beside its items, with the two sections of a recipe that are its own.
inline constexpr std::string_view layer = "layer", part = "part";
inline constexpr std::array sections_of_layer{field::heads.section(), field::causal.section()};
inline constexpr std::array of_layer{layer, part, sections_of_layer[0], sections_of_layer[1], likeliest};

// The likeliest words at a place.
inline constexpr std::string_view position = "position", words = join_names[1], token = "token", id = "id",
                                  probability = "probability";
inline constexpr std::array of_place{position, words};
inline constexpr std::array of_word{token, id, probability};

// The largest differences of an array from the same in float64.
inline constexpr std::string_view absolute = "absolute", relative = "relative";
inline constexpr std::array of_difference{absolute, relative};

// A failed line.
inline constexpr std::string_view error = "error", code = "code", message = "message";
inline constexpr std::array of_failed_line{index, error};
inline constexpr std::array of_error{code, message};

// A tensor.
inline constexpr std::string_view name = field::name.name(), dtype = field::dtype.name(), shape = draw_field::shape.name(),
                                  data = "data";
inline constexpr std::array of_tensor{schema, name, dtype, shape, data};

// What an article states of an array, and how near two types are in it.
inline constexpr std::string_view array = "array", at = "at", values = draw_field::values.name(), units = "units",
                                  rtol = "rtol", atol = "atol";
inline constexpr std::array of_published{array, at, shape, values, units, rtol, atol, dtype};
inline constexpr std::array of_precision{array, rtol, atol};

} // namespace key
} // namespace attn::model
