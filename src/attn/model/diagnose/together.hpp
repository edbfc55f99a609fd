// What several arrays of one file say together: a kernel stores its context and the log of its sums, and where one of the two
// is wrong, that says on which side of the sum the mistake is.
#pragma once

#include "attn/model/diagnose/against.hpp"

namespace attn::model::diagnose {

/// Which of lse, weights and context agree, in the order in which attention makes them.
enum class Pattern {
    all_agree,
    lse_alone,      ///< differs
    behind_lse,     ///< lse agrees, and what comes after it differs
    behind_weights, ///< the weights agree, and the context differs
    all_differ,
    mixed, ///< something that is made of another that differs agrees
};
inline constexpr std::array<std::string_view, 6> pattern_names{"all-agree",      "lse-alone",  "behind-lse",
                                                               "behind-weights", "all-differ", "mixed"};

struct Together {
    Pattern pattern;
    std::vector<Candidate> named; ///< what gives all of the arrays; of what is named for one of them
};

/// An array of a file, what it is held against, and what was found.
struct HeldArray {
    const ComparedTensor& file;
    const StoredTensor& right;
    Against found;
};

/// Two or more of one call.
[[nodiscard]] Together together(const Call& call, const std::vector<HeldArray>& arrays, const core::Work& work);

} // namespace attn::model::diagnose
