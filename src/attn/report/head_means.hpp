// What the numbers of a head's summary are called, in the order in which they are shown, and what the largest of them says that
// the head does.
#pragma once

#include "attn/model/run/summary.hpp"

#include <array>
#include <string>

namespace attn::report {

/// A mean that a head has, or all of them have not: that depends on words and rows alone.
struct HeadMean {
    const char* name;    ///< in JSON
    const char* header;  ///< for people
    const char* meaning; ///< "mean weight of …"
    const char* colour;  ///< of a head that does this most: of a middling lightness, so that it stands out on both grounds
    std::optional<double> (*value)(const model::HeadSummary&);
    bool is_share = true; ///< of each row: between 0 and 1
};
inline constexpr std::array head_means{
    HeadMean{"entropy", "entropy", "mean entropy of the rows, in nats", "#808890",
             [](const model::HeadSummary& head) { return std::optional(head.entropy); }, false},
    HeadMean{"itself", "itself", "mean weight of the word itself", "#8c564b",
             [](const model::HeadSummary& head) { return head.itself; }},
    HeadMean{"first", "first word", "mean weight of the first word", "#2e8b57",
             [](const model::HeadSummary& head) { return std::optional(head.first); }},
    HeadMean{"previous", "previous", "mean weight of the word before", "#1f6fb4",
             [](const model::HeadSummary& head) { return head.previous; }},
    HeadMean{"next", "next", "mean weight of the word after", "#8a63c9",
             [](const model::HeadSummary& head) { return head.next; }},
    HeadMean{"same", "same word", "mean weight of the same word elsewhere, over the words that repeat", "#c44e8a",
             [](const model::HeadSummary& head) { return head.same; }},
    HeadMean{"induction", "induction", "mean weight of what followed the same word before, over the words that repeat",
             "#b07d00", [](const model::HeadSummary& head) { return head.induction; }},
};

/// What a head does: the largest of its means that are shares, of those that are at least least_role and twice what equal
/// weights would have, as those of a few words behind a causal mask have much of the first. Absent: nothing that stands out.
inline constexpr double least_role = 0.4;
[[nodiscard]] const HeadMean* role_of(const model::HeadSummary& head, const model::HeadSummary& equal);

/// "previous 0.94"
[[nodiscard]] std::string mean_text(const HeadMean& mean, const model::HeadSummary& head);

} // namespace attn::report
