// Files of data/ that are compiled in: the built-in recipes and models, parts of the JSON Schemas, the manual and the page of
// --format html.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace attn::io {

struct BuiltinFile {
    std::string_view name; ///< without folder and ending: "owen-2025"
    std::string_view contents;
};

/// data/recipes/*.json, sorted by name.
[[nodiscard]] std::span<const BuiltinFile> builtin_recipes();
/// data/schemas/*.json: "explanation", "recipe", "result", "tensor", as far as no table says them (io/json/schema.hpp).
[[nodiscard]] std::span<const BuiltinFile> builtin_schemas();
/// data/manual/*.md, in the order in which they are read; the first line of each is "# " and its title.
[[nodiscard]] std::span<const BuiltinFile> builtin_manual();

/// data/models/*, sorted by name: config.json and either model.safetensors or draws.json of a model without a tokenizer.
struct BuiltinModel {
    std::string_view name, config, weights, draws;
};
[[nodiscard]] std::span<const BuiltinModel> builtin_models();

/// data/page: the frame, its style, and the scripts one after the other.
struct BuiltinPage {
    std::string_view frame, style, script;
};
[[nodiscard]] BuiltinPage builtin_page();

[[nodiscard]] std::optional<std::string_view> find(std::span<const BuiltinFile> files, std::string_view name);

} // namespace attn::io
