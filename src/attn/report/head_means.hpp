// What people are told of the means of a head, in the order in which they are shown, and what the largest of them says that the
// head does.
#pragma once

#include "attn/model/check/summary_members.hpp"

#include <string>

namespace attn::report {

struct ShownMean : model::HeadMean {
    const char* meaning; ///< "mean weight of …"
    const char* colour;  ///< of a head that does this most: of a middling lightness, so that it stands out on both grounds
    std::string_view header = name; ///< for people
    bool is_share = true;           ///< of each row: between 0 and 1
};
inline constexpr std::array head_means{
    ShownMean{
        {model::head_mean::entropy}, "mean entropy of the rows, in nats", "#808890", model::head_mean::entropy.name, false},
    ShownMean{{model::head_mean::itself}, "mean weight of the word itself", "#8c564b"},
    ShownMean{{model::head_mean::first}, "mean weight of the first word", "#2e8b57", "first word"},
    ShownMean{{model::head_mean::previous}, "mean weight of the word before", "#1f6fb4"},
    ShownMean{{model::head_mean::next}, "mean weight of the word after", "#8a63c9"},
    ShownMean{
        {model::head_mean::same}, "mean weight of the same word elsewhere, over the words that repeat", "#c44e8a", "same word"},
    ShownMean{{model::head_mean::induction},
              "mean weight of what followed the same word before, over the words that repeat",
              "#b07d00"},
};

/// What a head does: the largest of its means that are shares, of those that are at least least_role and twice what equal
/// weights would have, as those of a few words behind a causal mask have much of the first. Absent: nothing that stands out.
inline constexpr double least_role = 0.4;
[[nodiscard]] const ShownMean* role_of(const model::HeadSummary& head, const model::HeadSummary& equal);

/// "previous 0.94"
[[nodiscard]] std::string mean_text(const ShownMean& mean, const model::HeadSummary& head);

} // namespace attn::report
