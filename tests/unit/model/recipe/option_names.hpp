// What a test calls the option of a field: the library does not know options.
#pragma once

#include "attn/model/recipe/overrides.hpp"

#include <algorithm>
#include <string>

namespace attn::model {

/// "--embed-dim" for "dims.embed_dim", "--set dims.d_a".
inline std::string option_name(const FieldInfo& field)
{
    if (field.spelling == Spelling::key) {
        return "--set " + std::string(field.key);
    }
    if (field.section() == field::positions.section()) {
        return &field == &field::positions ? "--positions" : "--positions rope:" + std::string(field.name());
    }
    std::string name = "--" + std::string(field.name());
    std::ranges::replace(name, '_', '-');
    return name;
}

/// As `run` without a recipe: nothing comes from a file.
inline Origin options_alone()
{
    return Origin::options_alone(option_name);
}

} // namespace attn::model
