#include "attn/report/text/printed_recipe.hpp"

#include "attn/report/axes.hpp"
#include "attn/report/text/notation.hpp"

#include <cmath>
#include <utility>

namespace attn::report {
namespace {

using model::Item;
using model::Published;

/// Each matrix in the notation that it has in a table; null where masked.
template <typename Scalar>
Published printed(const std::string& name, const Tensor<Scalar>& tensor, int digits)
{
    Published published{.array = name, .at = {}, .shape = tensor.shape, .values = {}, .printed = true, .dtype = {}};
    const bool may_be_masked = model::is_masked(model::item_called(name));
    const auto size = static_cast<std::size_t>(tensor.rows() * tensor.columns());
    for (std::span<const Scalar> rest = tensor.values; !rest.empty(); rest = rest.subspan(size)) {
        const Notation notation = notation_of(rest.first(size), digits);
        for (const Scalar value : rest.first(size)) {
            const bool masked = may_be_masked && std::isinf(value) && value < 0;
            published.values.push_back(masked ? "null" : text_of(static_cast<double>(value), notation, digits));
        }
    }
    return published;
}

Published stated(Item item, const std::vector<std::string>& values)
{
    const Shape shape{std::ssize(values)};
    return {.array = std::string(name_of(item)), .at = {}, .shape = shape, .values = TextList(values), .dtype = {}};
}

Published vocabulary(const std::vector<std::string>& words)
{
    std::vector<std::string> rows;
    for (std::size_t id = 0; id < words.size(); ++id) {
        rows.insert(rows.end(), {words[id], std::to_string(id)});
    }
    Published published = stated(Item::vocabulary, rows);
    published.shape = {std::ssize(words), 2};
    return published;
}

/// Of a W_o drawn as linear, which a config need not say.
void state_sides(model::Recipe& recipe)
{
    for (model::Step& step : recipe.draws) {
        auto* draw = std::get_if<model::Draw>(&step);
        if (draw != nullptr && draw->target == model::Target::W_o && draw->init == model::Initialisation::linear) {
            draw->side = draw->side.value_or(model::Side::right);
        }
    }
}

} // namespace

model::Recipe printed_recipe(const model::Result& result, int digits)
{
    model::Recipe recipe = result.config();
    state_sides(recipe);
    for (const Item item : result.show) {
        if (const auto* words = result.words(item)) {
            recipe.published.push_back(item == Item::vocabulary ? vocabulary(*words) : stated(item, *words));
        } else if (const auto* integers = result.integers(item, result.front()); integers != nullptr && !is_choice(item)) {
            recipe.published.push_back(stated(item, texts_of(*integers)));
        }
    }
    for (const model::Array* array : shown_arrays(result, result.front())) {
        recipe.published.push_back(
            std::visit([&](const auto& tensor) { return printed(array->name, tensor, digits); }, array->tensor));
    }
    return recipe;
}

} // namespace attn::report
