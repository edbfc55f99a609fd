// What the numbers of a head's summary are called, in the order in which they are shown.
#pragma once

#include "attn/model/run/summary.hpp"

#include <array>

namespace attn::report {

/// A mean that a head has, or all of them have not: that depends on words and rows alone.
struct HeadMean {
    const char* name;   ///< in JSON
    const char* header; ///< for people
    std::optional<double> (*value)(const model::HeadSummary&);
    bool is_share = true; ///< of each row: between 0 and 1
};
inline constexpr std::array head_means{
    HeadMean{"entropy", "entropy", [](const model::HeadSummary& head) { return std::optional(head.entropy); }, false},
    HeadMean{"itself", "itself", [](const model::HeadSummary& head) { return head.itself; }},
    HeadMean{"first", "first word", [](const model::HeadSummary& head) { return std::optional(head.first); }},
    HeadMean{"previous", "previous", [](const model::HeadSummary& head) { return head.previous; }},
    HeadMean{"next", "next", [](const model::HeadSummary& head) { return head.next; }},
    HeadMean{"same", "same word", [](const model::HeadSummary& head) { return head.same; }},
    HeadMean{"induction", "induction", [](const model::HeadSummary& head) { return head.induction; }},
};

} // namespace attn::report
