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

void require_head(Index head, Index heads)
{
    if (head < 0 || head >= heads) {
        throw Error(ErrorKind::usage, "--head", std::to_string(head),
                    heads == 1 ? "0, there is one head" : "0 to " + std::to_string(heads - 1));
    }
}

} // namespace attn::model
