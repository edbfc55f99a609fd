// What several arrays of one file say together: a kernel stores its context and the log of its sums, and where one of the two
// is wrong, that says on which side of the sum the mistake is. Which of dq, dk and dv are wrong says which step of the backward
// to look at, also where no mistake of the list gives them.
#pragma once

#include "attn/model/diagnose/against.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace attn::model::diagnose {

/// Which of lse, weights and context agree, in the order in which attention makes them; or which of dq, dk and dv.
enum class AgreementPattern {
    all_agree,
    lse_alone,      ///< differs
    behind_lse,     ///< lse agrees, and what comes after it differs
    behind_weights, ///< the weights agree, and the context differs
    all_differ,
    mixed, ///< something that is made of another that differs agrees
    dq_alone,
    dk_alone,
    dv_alone,
    dq_agrees,
    dk_agrees,
    dv_agrees,
    all_gradients,   ///< of the three differ
    other_gradients, ///< than the three differ
    some_gradients,  ///< one of the three is missing
};

struct PatternInfo {
    AgreementPattern pattern;
    std::string_view name, sentence;
};
inline constexpr std::array patterns{
    PatternInfo{AgreementPattern::all_agree, "all-agree", ""},
    PatternInfo{AgreementPattern::lse_alone, "lse-alone",
                "lse alone differs: the attention is right, and what is stored as lse is not"},
    PatternInfo{AgreementPattern::behind_lse, "behind-lse",
                "lse agrees: scores, masks and sums are right, and the mistake comes after them"},
    PatternInfo{AgreementPattern::behind_weights, "behind-weights",
                "the weights agree: the mistake is in the values, in their sum, or in how the result is written"},
    PatternInfo{AgreementPattern::all_differ, "all-differ",
                "all differ: the mistake comes before the sum, or there is more than one"},
    PatternInfo{AgreementPattern::mixed, "mixed",
                "one array differs, and another that is made of it agrees: there is a mistake in what is stored"},
    PatternInfo{AgreementPattern::dq_alone, "dq-alone",
                "dk and dv agree, dq does not: the sum over tiles of keys, the factor of dq, or how it is stored"},
    PatternInfo{AgreementPattern::dk_alone, "dk-alone",
                "dq and dv agree, dk does not: the factor of dk, its sum, or how it is stored"},
    PatternInfo{AgreementPattern::dv_alone, "dv-alone",
                "dq and dk agree, dv does not: the weights that multiply dO, with their dropout, the sum, or how dv is stored"},
    PatternInfo{AgreementPattern::dq_agrees, "dq-agrees",
                "dq agrees, dk and dv do not: the sum over the queries or over the heads of a group"},
    PatternInfo{AgreementPattern::dk_agrees, "dk-agrees",
                "dk agrees, dq and dv do not: there are two mistakes, or arrays are exchanged"},
    PatternInfo{
        AgreementPattern::dv_agrees, "dv-agrees",
        "dv agrees, dq and dk do not: the weights are right; delta, the derivative of softmax or softcap, or the scale is not"},
    PatternInfo{
        AgreementPattern::all_gradients, "all-gradients",
        "dq, dk and dv all differ: the weights made again (lse, masks, scale of the scores), or what is read and written"},
    PatternInfo{AgreementPattern::other_gradients, "other-gradients",
                "dq, dk and dv agree: the mistake is in what else is summed or stored"},
    PatternInfo{AgreementPattern::some_gradients, "some-gradients",
                "dq, dk and dv in one file would say more: which of them differ tells where the mistake is"},
};
[[nodiscard]] constexpr const PatternInfo& info_of(AgreementPattern pattern)
{
    return *std::ranges::find(patterns, pattern, &PatternInfo::pattern);
}

struct Together {
    AgreementPattern pattern;
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

/// Of a file that differs in all of its arrays, for which no mistake is named: whether it agrees where the tensors lie in the
/// other TensorLayout. Then fills Against::agrees_in.
void try_other_layout(const ResolvedAttend& resolved, std::vector<HeldArray>& arrays);

} // namespace attn::model::diagnose
