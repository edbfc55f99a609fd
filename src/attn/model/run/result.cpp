#include "attn/model/run/result.hpp"

#include "attn/tensor/error.hpp"

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

const std::vector<Index>* Result::integers(Item item) const
{
    const std::vector<Index>* const list = item == Item::token_ids         ? &token_ids
                                           : item == Item::key_token_ids   ? &key_token_ids
                                           : item == Item::query_positions ? &query_positions
                                                                           : nullptr;
    return list == nullptr || list->empty() ? nullptr : list;
}

void require_head(Index head, Index heads)
{
    if (head < 0 || head >= heads) {
        throw Error(ErrorKind::usage, "--head", std::to_string(head),
                    heads == 1 ? "0, there is one head" : "0 to " + std::to_string(heads - 1));
    }
}

} // namespace attn::model
