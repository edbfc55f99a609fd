// The members of a summary, which JSON writes and reads and `check` compares.
#pragma once

#include "attn/model/run/result.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attn::model {

/// A mean that all heads have or none has: that depends on words and rows alone.
struct HeadMean {
    std::string_view name;
    std::optional<double> (*value)(const HeadSummary&);
    bool is_newer = false; ///< results saved by 0.1.0 have it of no head
};

template <auto member>
[[nodiscard]] std::optional<double> mean_at(const HeadSummary& head)
{
    return head.*member;
}

namespace head_mean {

inline constexpr HeadMean entropy{name_of(Item::entropy), mean_at<&HeadSummary::entropy>};
inline constexpr HeadMean itself{"itself", mean_at<&HeadSummary::itself>};
inline constexpr HeadMean first{"first", mean_at<&HeadSummary::first>};
inline constexpr HeadMean previous{"previous", mean_at<&HeadSummary::previous>};
inline constexpr HeadMean next{"next", mean_at<&HeadSummary::next>};
inline constexpr HeadMean same{"same", mean_at<&HeadSummary::same>, true};
inline constexpr HeadMean induction{"induction", mean_at<&HeadSummary::induction>, true};

inline constexpr std::array all{entropy, itself, first, previous, next, same, induction};

} // namespace head_mean

/// A pair has two ends, each a position and the word there, and a weight.
struct PairEnd {
    std::string_view position, token;
    Index Pair::*place;
    bool is_key;

    [[nodiscard]] const std::string& word(const Result& result, const Layer& layer, const Pair& pair) const
    {
        return (is_key ? result.words_of_keys(layer) : result.row_words(layer))[static_cast<std::size_t>(pair.*place)];
    }
};
inline constexpr std::array pair_ends{PairEnd{"query", "query_token", &Pair::query, false},
                                      PairEnd{"key", "key_token", &Pair::key, true}};

/// Whether what stands at a place such as "summary.heads[0].pairs[1].key_token" is a word.
[[nodiscard]] inline bool is_word_of_pair(std::string_view place)
{
    return std::ranges::any_of(pair_ends, [&](const PairEnd& end) { return place.ends_with(end.token); });
}

namespace key {

inline constexpr std::string_view largest_entropy = "largest_entropy", heads = name_of(Item::heads), pairs = "pairs",
                                  weight = "weight";

} // namespace key
} // namespace attn::model
