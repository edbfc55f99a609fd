// Recipes by name or file.
#pragma once

#include "attn/model/recipe/recipe.hpp"

#include <string>
#include <string_view>

namespace attn::cli {

/// The file of the built-in recipe. Throws Error(no_input) with the names there are.
[[nodiscard]] std::string_view builtin_recipe(const std::string& name);

/// As a file holds it. Throws as io::parse_recipe, and for what no new recipe means (model::require_whole_identity).
[[nodiscard]] model::Recipe new_recipe(std::string_view json);

/// A built-in recipe's name, or else a file, a recipe or a saved result, whose config it is; "-" is standard input. Throws
/// Error(no_input) and Error(data), naming the file.
[[nodiscard]] model::Recipe load_recipe(const std::string& name_or_path, std::size_t most_bytes);

/// The folder of such a file, with its slash; empty where it is no file, or in the folder where the program runs.
[[nodiscard]] std::string folder_of_recipe(const std::string& name_or_path);

/// "; attn-cli recipe list names the built-in recipes; did you mean …?"
[[nodiscard]] std::string recipe_hint(const std::string& name);

/// Whether `name` can be meant as the name of a built-in recipe only: no file of that name is there.
[[nodiscard]] bool names_nothing(const std::string& name);

} // namespace attn::cli
