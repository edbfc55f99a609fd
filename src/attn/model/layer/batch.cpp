#include "attn/model/layer/batch.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::model {
namespace {

void require_entries(Index first, Index entries, Target target)
{
    if (first != entries) {
        throw Error(ErrorKind::data, fmt::format("draws: {}", name_of(target)), fmt::format("{} entries", first),
                    fmt::format("{}, as many as the batch has, or a shape of two lengths that all share", entries));
    }
}

/// How many lengths the tensor has that a draw keeps; 0 where none are said.
std::size_t rank_of(const Draw& draw)
{
    return draw.values ? draw.values->shape.size() : draw.shape ? draw.shape->size() - draw.take.size() : 0;
}

void keep_entry(Draw& draw, Index entry, Index entries, bool heads)
{
    const std::size_t of_entry = is_given(draw.target) && (heads || rank_of(draw) == 4) ? 3 : 2;
    if (draw.values) {
        if (draw.values->shape.size() == of_entry + 1) {
            require_entries(draw.values->shape.front(), entries, draw.target);
            draw.values = part_of(*draw.values, entry);
        }
        return;
    }
    if (!draw.shape && draw.take.empty()) {
        draw.entries = entries;
        draw.take = {entry};
    }
    if (draw.shape && draw.shape->size() == draw.take.size() + of_entry + 1) {
        if (const auto* first = std::get_if<Index>(&(*draw.shape)[draw.take.size()])) {
            require_entries(*first, entries, draw.target);
        }
        draw.take.push_back(entry);
    }
}

} // namespace

std::optional<Index> batch_size(const Recipe& recipe)
{
    const auto* sentence = std::get_if<SentenceInput>(&recipe.input);
    if (sentence != nullptr) {
        return sentence->batch.empty() ? std::nullopt : std::optional<Index>(std::ssize(sentence->batch));
    }
    const auto* ids = std::get_if<IdsInput>(&recipe.input);
    return ids != nullptr ? ids->batch : std::get<PositionsInput>(recipe.input).batch;
}

bool is_whole_batch(const Recipe& recipe)
{
    return batch_size(recipe) && !recipe.entry;
}

Index entry_of(const Recipe& recipe, const Origin& origin)
{
    const std::optional<Index> entries = batch_size(recipe);
    const std::string all = entries ? fmt::format("0 to {}", *entries - 1) : "";
    if (is_whole_batch(recipe)) {
        const std::string option = origin.option_of(field::entry);
        throw Error(option.empty() ? ErrorKind::data : ErrorKind::usage,
                    fmt::format("the recipe is a batch of {}, and one entry is wanted; {} chooses it, {}", *entries,
                                option.empty() ? std::string(field::entry.key) : option + "=N", all));
    }
    if (recipe.entry && recipe.entry >= entries.value_or(0)) {
        throw Error(origin.fault({&field::entry}), origin.name_of(field::entry), std::to_string(*recipe.entry),
                    entries ? all + ", the entries of the batch" : "only with an input that is a batch");
    }
    return recipe.entry.value_or(0);
}

Recipe with_draws_of(Index entry, Recipe recipe)
{
    for (Step& step : recipe.draws) {
        auto* draw = std::get_if<Draw>(&step);
        if (draw != nullptr && is_by_position(draw->target)) {
            keep_entry(*draw, entry, *batch_size(recipe), recipe.dims.heads.value_or(1) > 1);
        }
    }
    return recipe;
}

Shape without_batch_of_one(Shape shape, Target target)
{
    if (!is_by_position(target) && target != Target::position_embedding) {
        return shape;
    }
    const std::size_t most = is_given(target) ? 3 : 2;
    while (shape.size() > most && shape.front() == 1) {
        shape.erase(shape.begin());
    }
    shape.insert(shape.begin(), shape.size() == 1 ? 1 : 0, 1);
    return shape;
}

Literal part_of(const Literal& literal, Index entry)
{
    Literal part{.shape = Shape(literal.shape.begin() + 1, literal.shape.end()), .values = {}, .truths = literal.truths};
    const Index count = element_count(part.shape);
    const auto first = literal.values.begin() + entry * count;
    part.values.assign(first, first + count);
    for (const Index place : literal.integers) {
        if (place >= entry * count && place < (entry + 1) * count) {
            part.integers.push_back(place - entry * count);
        }
    }
    return part;
}

} // namespace attn::model
