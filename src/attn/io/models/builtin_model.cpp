#include "attn/io/models/builtin_model.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/io/models/model_files.hpp"
#include "attn/model/trained/drawn_model.hpp"

#include <algorithm>
#include <utility>

namespace attn::io {

transformer::Weights read_draws(Bytes draws, const transformer::Architecture& architecture)
{
    transformer::Weights weights;
    for (const NamedTensor& tensor : draw_weights(plan_weights(architecture, parse_model_draws(as_text(draws))))) {
        weights.add(tensor);
    }
    return weights;
}

std::optional<model::Trained> builtin_model(std::string_view name, const std::vector<std::string>& ignored)
{
    const auto found = std::ranges::find(builtin_models(), name, &BuiltinModel::name);
    if (found == builtin_models().end()) {
        return std::nullopt;
    }
    transformer::Architecture architecture = read_architecture(as_bytes(found->config), ignored);
    const bool drawn = found->weights.empty();
    const transformer::Weights weights = drawn ? read_draws(as_bytes(found->draws), architecture)
                                               : read_weights({{std::string(name), as_bytes(found->weights)}});
    return model::Trained(transformer::Model(std::move(architecture), weights), {}, drawn);
}

} // namespace attn::io
