#include "attn/report/text/printed_recipe.hpp"

#include "attn/report/axes.hpp"
#include "attn/report/text/notation.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace attn::report {
namespace {

using model::Item;
using model::Published;

/// A matrix in the notation that it has in a table; null where masked.
template <typename Scalar>
TextList printed(std::span<const Scalar> matrix, bool may_be_masked, int digits)
{
    TextList texts;
    const Notation notation = notation_of(matrix, digits);
    for (const Scalar value : matrix) {
        const bool masked = may_be_masked && std::isinf(value) && value < 0;
        texts.push_back(masked ? "null" : text_of(static_cast<double>(value), notation, digits));
    }
    return texts;
}

/// Matrix by matrix, as articles print them.
template <typename Scalar>
void append(std::vector<Published>& published, const std::string& name, const Tensor<Scalar>& tensor, int digits)
{
    const bool may_be_masked = model::is_masked(model::item_called(name));
    const std::size_t leading = tensor.shape.size() - std::min<std::size_t>(tensor.shape.size(), 2);
    const auto size = static_cast<std::size_t>(tensor.rows() * tensor.columns());
    std::vector<std::optional<Index>> at(leading, 0);
    for (std::span<const Scalar> rest = tensor.values; !rest.empty(); rest = rest.subspan(size)) {
        published.push_back({.array = name,
                             .at = at,
                             .shape = Shape(tensor.shape.begin() + std::ssize(at), tensor.shape.end()),
                             .values = printed(rest.first(size), may_be_masked, digits),
                             .printed = true,
                             .dtype = {}});
        for (std::size_t i = leading; i-- > 0 && ++*at[i] == tensor.shape[i];) {
            at[i] = 0;
        }
    }
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
        std::visit([&](const auto& tensor) { append(recipe.published, array->name, tensor, digits); }, array->tensor);
    }
    return recipe;
}

} // namespace attn::report
