#include "attn/model/layer/hidden_words.hpp"

#include "attn/model/layer/literal.hpp"
#include "attn/model/layer/mask.hpp"
#include "attn/model/recipe/recipe_fields.hpp"
#include "attn/tensor/element.hpp"

#include <limits>

namespace attn::model {
namespace {

/// A mask whose last dimension is `S`, with these places hidden: bool, or float64 where numbers are given.
StoredTensor hiding_mask(const std::optional<TensorView>& given, const std::vector<Index>& places, Index S)
{
    const bool numbers = given && given->type != ElementType::boolean;
    const double seen = numbers ? 0 : 1;
    const double hidden = numbers ? -std::numeric_limits<double>::infinity() : 0;
    Shape shape = given ? given->shape : Shape{S};
    const bool repeats = given && shape.back() == 1; // one number for all keys
    shape.back() = given && !repeats ? shape.back() : S;
    std::vector<double> values(static_cast<std::size_t>(element_count(shape)), seen);
    for (std::size_t i = 0; given && i < values.size(); ++i) {
        Shape place = index_of(shape, static_cast<Index>(i));
        place.back() = repeats ? 0 : place.back();
        values[i] = given->at(place);
    }
    for (std::size_t start = 0; start < values.size(); start += static_cast<std::size_t>(shape.back())) {
        for (const Index place : places) {
            values[start + static_cast<std::size_t>(place)] = hidden;
        }
    }
    StoredTensor mask("mask", numbers ? ElementType::float64 : ElementType::boolean, shape);
    mask.bytes = to_bytes(mask.type, std::span<const double>(values));
    return mask;
}

} // namespace

std::vector<Index> hidden_places(const Recipe& recipe, const std::vector<std::string>& keys, const Origin& origin)
{
    const std::vector<std::string>& hide = recipe.attention.hide;
    return hide.empty() ? std::vector<Index>() : places_of(hide, keys, lookup_of(field::hide, recipe, origin));
}

WholeMask::WholeMask(const Recipe& recipe, const std::optional<TensorView>& of_file, const Shape& scores,
                     const std::vector<std::string>& keys, const Origin& origin, const std::function<void()>& read_numbers)
    : stated_(stated_mask(recipe)), given_(stated_ ? std::optional(stated_->view()) : of_file), view_(given_)
{
    if (given_) {
        (void)broadcast_mask(*given_, scores, ShortMask::repeats);
        if (read_numbers) {
            read_numbers();
        }
    }
    if (const std::vector<Index> places = hidden_places(recipe, keys, origin); !places.empty()) {
        hiding_ = hiding_mask(given_, places, std::ssize(keys));
        view_ = hiding_->view();
    }
}

} // namespace attn::model
