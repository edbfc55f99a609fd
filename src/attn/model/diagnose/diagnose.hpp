// Which mistake, or which two, gives the numbers of a file: every one of the list is computed and measured against them.
//
// A few rows tell most candidates apart; those that are near there are computed wholly. Pairs are tried where no mistake alone
// is within the tolerance.
#pragma once

#include "attn/model/diagnose/distance.hpp"
#include "attn/model/diagnose/evaluate.hpp"
#include "attn/model/diagnose/mistakes.hpp"

#include <functional>
#include <memory>

namespace attn::model::diagnose {

inline constexpr double clearly = 10;   ///< times nearer than the next: what it takes to be named
inline constexpr double hopeless = 100; ///< tolerances: a pair that is as far is no candidate

/// The name of a scale that is of no list; Variant::other_scale says which.
inline constexpr std::string_view scale_other = "scale-other";

/// What may have given the numbers.
struct Candidate {
    std::vector<const MistakeInfo*> mistakes = {}; ///< none: the right result
    Variant variant = {};                          ///< what those of attention make together
    Distance distance = {};
    bool complete = false;                       ///< measured over everything, otherwise over some rows
    bool broken_off = false;                     ///< at a row that was hopeless: the distance is that of the rows so far
    std::shared_ptr<const MistakeInfo> own = {}; ///< what of its mistakes is of no list: scale_other

    [[nodiscard]] bool right() const { return mistakes.empty(); }
    /// Whether it is as near as the tolerance demands. A rounding may tip over, and a sum that nearly cancels makes errors
    /// large: there the typical difference counts.
    [[nodiscard]] bool fits_wholly() const
    {
        return (rounds(variant) || cancels(variant) ? distance.typical() : distance.worst) <= 1;
    }
    /// Whether all but a few numbers are, those that lie where few roundings have tipped over.
    [[nodiscard]] bool fits_but_for_few() const;
    [[nodiscard]] bool fits() const { return fits_wholly() || fits_but_for_few(); }
};

/// How many times farther `other` is than `best`; what is under a hundredth of the tolerance counts as that much. Of roundings
/// also how many times more numbers are beyond the tolerance, where less than a hundredth of them counts as that much.
[[nodiscard]] double times_farther(const Candidate& best, const Candidate& other);

enum class Verdict {
    named,   ///< one candidate fits, and is ten times nearer than the next
    likely,  ///< one alone fits, but another mistake that does not is nearer than that
    tied,    ///< some fit that this input does not tell apart
    unknown, ///< nothing of the list fits, or it fits no better than the right result does
};
inline constexpr std::array<std::string_view, 4> verdict_names{"named", "likely", "tied", "unknown"};

struct Diagnosis {
    Verdict verdict = Verdict::unknown;
    std::vector<Candidate> candidates; ///< the complete ones, then the others, the nearest first; of pairs those that came near
    std::size_t named = 0;             ///< the first so many are what the verdict is about
    double farther = 0;                ///< how many times the next is farther
    std::size_t tried = 0;             ///< single mistakes and pairs
    bool attention_tried = true;       ///< the mistakes of attention could be made
    bool pairs_tried = true;           ///< of gradients, none are
    bool all_pairs = true;             ///< large inputs leave out pairs with a softmax over other rows
};

/// What is held against what. The numbers of the file and the right ones have the shape that ComparedDims say.
struct Evidence {
    const Call& call;
    Compared compared;
    const Yardstick& numbers;
    const std::vector<double>& right;
    bool pairs = true;      ///< whether pairs are tried, too
    bool free_scale = true; ///< and a scale of no list
};

/// The right result and every mistake of attention alone, to be measured.
[[nodiscard]] std::vector<Candidate> candidates_in(const Call& call, Compared compared);
/// The same beside a mistake that is made already, measured up to where a pair is hopeless, the nearest of them wholly.
[[nodiscard]] std::vector<Candidate> singles(const Evidence& question, const core::Work& work);
/// Where nothing of a diagnosis fits, or only another scale, which is not quite it: adds the scale that gives the numbers, if
/// one does (free_scale.hpp).
void add_free_scale(Diagnosis& diagnosis, const Evidence& question, const core::Work& work);
/// Those, `others`, which are measured, and where none of them fits, pairs of the mistakes of attention.
[[nodiscard]] Diagnosis diagnose(const Evidence& question, const core::Work& work, std::vector<Candidate> others = {});

/// Computes a candidate wholly, if it is not yet.
using Confirm = std::function<void(Candidate&)>;
/// Computes wholly what may be the nearest, until that is known.
void confirm_nearest(std::vector<Candidate>& candidates, const Confirm& compute);
/// Where none fits: computes wholly the right result, and what comes nearer as far as it was measured.
void complete_nearest(std::vector<Candidate>& candidates, const Confirm& compute);
/// Sorts, and fills verdict, named and farther.
void judge(Diagnosis& diagnosis);

/// Of a judged one, the mistakes that are nearest, if they are twice as near as the right result; otherwise nullptr. Seeds are
/// right or wrong, and never near.
[[nodiscard]] const Candidate* nearest(const Diagnosis& diagnosis);

} // namespace attn::model::diagnose
