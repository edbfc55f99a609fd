#include "cli/input/recipes.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/io/json/saved_result.hpp"
#include "attn/model/layer/model_dims.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/named.hpp"
#include "cli/options/suggest.hpp"
#include "cli/system/files.hpp"

#include <fmt/format.h>

#include <vector>

#include <unistd.h>

namespace attn::cli {

std::string recipe_hint(const std::string& name)
{
    return "; attn-cli recipe list names the built-in recipes" +
           did_you_mean(name, names_of(io::builtin_recipes(), &io::BuiltinFile::name));
}

bool names_nothing(const std::string& name)
{
    return name != "-" && !io::find(io::builtin_recipes(), name) && ::access(name.c_str(), F_OK) != 0;
}

std::string_view builtin_recipe(const std::string& name)
{
    const auto found = io::find(io::builtin_recipes(), name);
    if (!found) {
        throw Error(ErrorKind::no_input, fmt::format("{}: no such recipe{}", in_quotes(name), recipe_hint(name)));
    }
    return *found;
}

std::string folder_of_recipe(const std::string& name_or_path)
{
    const bool builtin = io::find(io::builtin_recipes(), name_or_path).has_value();
    return builtin ? "" : name_or_path.substr(0, name_or_path.rfind('/') + 1); // npos + 1 is 0
}

model::Recipe new_recipe(std::string_view json)
{
    model::Recipe recipe = io::parse_recipe(json);
    model::require_whole_identity(recipe);
    return recipe;
}

model::Recipe load_recipe(const std::string& name_or_path, std::size_t most_bytes)
{
    if (const auto found = io::find(io::builtin_recipes(), name_or_path)) {
        return io::parse_recipe(*found);
    }
    if (names_nothing(name_or_path)) {
        throw Error(ErrorKind::no_input,
                    fmt::format("{}: no such file or recipe{}", quoted_path(name_or_path), recipe_hint(name_or_path)));
    }
    const std::string json = read_json_file(name_or_path, most_bytes);
    return named(name_of_input(name_or_path), [&] {
        const std::vector<JsonText> documents = split_documents(json);
        if (documents.size() > 1 && io::kind_of(documents.front().text) == io::Document::result) {
            throw Error(ErrorKind::data, fmt::format("got {}; allowed: one, such as `sed -n 1p FILE` prints",
                                                     counted(std::ssize(documents), "result")));
        }
        if (io::kind_of(json) == io::Document::layers) {
            throw Error(ErrorKind::data, "got a result of --model; allowed: a recipe, or a result without --model");
        }
        return io::kind_of(json) == io::Document::result ? std::get<model::Recipe>(io::parse_saved_result(json).config)
                                                         : new_recipe(json);
    });
}

} // namespace attn::cli
