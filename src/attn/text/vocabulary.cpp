#include "attn/text/vocabulary.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::text {

std::vector<std::string> vocabulary(const std::vector<std::string>& words)
{
    // std::string compares bytes as unsigned, which for UTF-8 is the order of the code points.
    std::vector<std::string_view> distinct(words.begin(), words.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    return {distinct.begin(), distinct.end()};
}

std::vector<Index> ids_of(const std::vector<std::string>& words, const std::vector<std::string>& vocabulary)
{
    std::vector<Index> ids;
    ids.reserve(words.size());
    for (const std::string& word : words) {
        const auto place = std::lower_bound(vocabulary.begin(), vocabulary.end(), word);
        if (place == vocabulary.end() || *place != word) {
            throw Error(ErrorKind::internal, fmt::format("word {} is not in the vocabulary", in_quotes(word)));
        }
        ids.push_back(place - vocabulary.begin());
    }
    return ids;
}

} // namespace attn::text
