// Everything that a run makes, and its arrays by name.
#pragma once

#include "attn/model/run/run.hpp"

#include <string_view>
#include <variant>

namespace attn::model {

inline Result run_all(const Recipe& recipe)
{
    RunSettings settings;
    settings.show = everything(recipe);
    return run(recipe, settings);
}

inline const Tensor<float>& floats(const Result& result, std::string_view name)
{
    return std::get<Tensor<float>>(*result.find(name));
}

} // namespace attn::model
