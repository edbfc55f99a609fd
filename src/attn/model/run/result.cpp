#include "attn/model/run/result.hpp"

#include <fmt/format.h>

namespace attn::model {

std::vector<std::string> Result::words_of_queries() const
{
    if (query_positions.empty()) {
        return tokens;
    }
    std::vector<std::string> words;
    for (const Index position : query_positions) {
        words.push_back(tokens[static_cast<std::size_t>(position)]);
    }
    return words;
}

const AnyTensor* Result::find(std::string_view name) const
{
    for (const std::vector<Array>* list : {&arrays, &parameters}) {
        for (const Array& array : *list) {
            if (array.name == name) {
                return &array.tensor;
            }
        }
    }
    return nullptr;
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

const std::vector<Index>* Result::integers(Item item) const
{
    const std::vector<Index>* const list = item == Item::token_ids         ? &token_ids
                                           : item == Item::key_token_ids   ? &key_token_ids
                                           : item == Item::token_types     ? &token_types
                                           : item == Item::offsets         ? &offsets
                                           : item == Item::query_positions ? &query_positions
                                           : item == Item::heads           ? &heads
                                                                           : nullptr;
    return list == nullptr || list->empty() ? nullptr : list;
}

Index Result::head_at(Index place, std::string_view array) const
{
    const std::optional<Item> item = item_called(array);
    const Heads of = item ? info_of(*item).heads : Heads::none; // a parameter has all of them
    const std::vector<Index>& kept = of == Heads::keys ? key_heads : heads;
    return of == Heads::none || kept.empty() ? place : kept[static_cast<std::size_t>(place)];
}

std::string Result::name_of_head(Index place, std::string_view array) const
{
    const Index head = head_at(place, array);
    return head == mean_of_heads ? "mean of heads" : fmt::format("head {}", head);
}

} // namespace attn::model
