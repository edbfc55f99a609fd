#include "attn/model/run/result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::model {

std::vector<std::string> Result::words_of_queries(const Layer& layer) const
{
    const std::vector<std::string>& all = row_words(layer);
    if (query_positions.empty()) {
        return all;
    }
    std::vector<std::string> words;
    for (const Index position : query_positions) {
        words.push_back(all[static_cast<std::size_t>(position)]);
    }
    return words;
}

namespace {

const AnyTensor* find_in(const std::vector<Array>& arrays, std::string_view name)
{
    const auto found = std::ranges::find(arrays, name, &Array::name);
    return found == arrays.end() ? nullptr : &found->tensor;
}

} // namespace

const AnyTensor* Layer::find(std::string_view name) const
{
    return find_in(arrays, name);
}

const AnyTensor* Result::find(std::string_view name, const Layer& layer) const
{
    if (const AnyTensor* array = layer.find(name)) {
        return array;
    }
    return name == name_of(Item::logits) && logits ? &*logits : find_in(parameters, name);
}

const std::vector<std::string>* Result::words(Item item) const
{
    switch (item) {
    case Item::tokens: return &tokens;
    case Item::key_tokens: return cross ? &key_tokens : nullptr;
    case Item::vocabulary: return vocabulary ? &*vocabulary : nullptr;
    default: return nullptr;
    }
}

void sort_arrays(std::vector<Array>& arrays)
{
    std::ranges::stable_sort(arrays, {}, [](const Array& array) { return item_called(array.name); });
}

const std::vector<Index>* Result::integers(Item item, const Layer& layer) const
{
    const std::vector<Index>* const list = item == Item::token_ids         ? &token_ids
                                           : item == Item::key_token_ids   ? &key_token_ids
                                           : item == Item::token_types     ? &token_types
                                           : item == Item::offsets         ? &offsets
                                           : item == Item::query_positions ? &query_positions
                                           : item == Item::heads           ? &layer.heads
                                           : item == Item::alignment       ? &layer.alignment
                                                                           : nullptr;
    return list == nullptr || list->empty() ? nullptr : list;
}

Index Layer::head_at(Index place, std::string_view array) const
{
    const std::optional<Item> item = item_called(array);
    const Heads of = item ? info_of(*item).heads : Heads::none; // a parameter has all of them
    const std::vector<Index>& kept = of == Heads::keys ? key_heads : heads;
    return of == Heads::none || kept.empty() ? place : kept[static_cast<std::size_t>(place)];
}

std::string Layer::name_of_head(Index place, std::string_view array) const
{
    const Index head = head_at(place, array);
    return head == mean_of_heads ? "mean of heads" : fmt::format("head {}", head);
}

} // namespace attn::model
