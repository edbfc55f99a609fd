// What a test of attention cannot see: the mistakes that give the right numbers on its inputs, or numbers that its tolerance
// lets through. Whoever makes one of them passes the test.
//
// Some give the right numbers since these sizes leave no room for them: of a full tile no rest can be dropped. They are listed
// with the change of sizes that makes room.
#pragma once

#include "attn/model/diagnose/against.hpp"
#include "attn/model/diagnose/suggest.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace attn::model::diagnose {

/// Why a mistake goes unseen.
enum class Blind {
    same,           ///< it gives the right numbers
    tolerated,      ///< others, within the tolerance
    as_type_allows, ///< others, as near to float64 as float16 or bfloat16 can be (HalfAccuracy)
    no_room,        ///< these sizes make it the right computation, others show it: BlindSpot::change
};
inline constexpr std::array<std::string_view, 4> blind_names{"same", "within-tolerance", "as-type-allows", "no-room"};

struct BlindSpot {
    const Mistake* mistake;
    Blind why;
    double largest = 0;                     ///< |made - right|, both in float64
    std::optional<InputChange> change = {}; ///< the first that shows it, of those that were tried; always of no_room
};

struct BlindSpots {
    std::vector<BlindSpot> unseen;                    ///< in the order of the list
    std::map<InputChange, core::AttentionDims> sizes; ///< in which a change shows them, where they are not those of the call
    std::size_t possible = 0;           ///< mistakes that can be made with these options, in these sizes or in others
    Tolerance tolerance;                ///< that counts
    std::optional<double> half_allowed; ///< of HalfAccuracy, unless that does not count
    double noise = 0;                   ///< how much of what is allowed the rounding of `right` alone takes; beyond 1 it fails

    [[nodiscard]] std::size_t seen() const { return possible - unseen.size(); }
    [[nodiscard]] bool has_unseen(const Mistake& mistake) const
    {
        return std::ranges::find(unseen, &mistake, &BlindSpot::mistake) != unseen.end();
    }
};

/// What every number is held against.
struct BlindTest {
    std::vector<double> plain; ///< without a mistake, as mistakes are made: in float64, in the order of ComparedDims
    std::vector<double> right; ///< as attend() gave it, likewise
    std::vector<double> exact; ///< attend() in float64, likewise; empty where the tolerance alone counts
    Tolerance tolerance;
    double allowed = 0; ///< of |number - exact|
    Precision type;     ///< of the result
};

/// How far the numbers of a mistake have got without being seen.
struct BlindProgress {
    bool same = true, tolerated = true, as_type_allows;
    double largest = 0;

    [[nodiscard]] bool unseen() const { return tolerated || as_type_allows; }

    void add(const BlindTest& test, std::size_t at, double number);
    [[nodiscard]] Blind why() const { return same ? Blind::same : tolerated ? Blind::tolerated : Blind::as_type_allows; }
};
/// BlindSpots::noise.
[[nodiscard]] double noise_of(const BlindTest& test);
/// With none unseen yet.
[[nodiscard]] BlindSpots spots_of(const BlindTest& test);

/// A test of a call: the mistakes that show in what it looks at, if they can be made, and which of them it lets pass.
struct BlindExam {
    std::vector<const Mistake*> mistakes;
    std::function<std::vector<BlindSpot>(const std::vector<const Mistake*>& made)> unseen; ///< in the call
    /// Of another call with the same options, which outlives what this gives: whether a mistake passes the same test there.
    /// For many threads.
    std::function<std::function<bool(const Mistake&)>(const Call& other)> passes_in;
    bool changes = true; ///< whether to look for those that would show what is unseen
};
/// Fills what `spots` says of mistakes, with the changes that show them.
void examine(const ResolvedAttend& resolved, const BlindExam& exam, BlindSpots& spots, const core::Work& work);

/// `right`: the context or the weights, or gradients, that attend() gave in the call. In float16 and bfloat16 a rounding that
/// the plain computation makes, too, is no mistake, and not among them. Throws Error(usage) for a call whose mistakes cannot be
/// made (Call::is_plain), of packed sequences (but for gradients) and of gradients in heads that are too large; and as
/// attend(). Without `changes` it is faster, and does not say which would show what is unseen.
[[nodiscard]] BlindSpots blind_spots(const ResolvedAttend& resolved, const std::vector<StoredTensor>& right,
                                     const Criterion& criterion, const core::Work& work, bool changes = true);

/// Inputs of the same shapes and types as those of a call, and what a test on them does not see.
struct RevealingInput {
    std::vector<StoredTensor> tensors; ///< as those of Suggestion
    BlindSpots spots;
};
/// Of several that are drawn, the one on which a test with these options sees the most of what `own` does not see, the spots of
/// the call; of equal ones, the most. One on which rounding alone takes half of what is allowed is not taken; where none shows
/// anything new, there are no tensors. Throws as blind_spots().
[[nodiscard]] RevealingInput revealing_input(const ResolvedAttend& resolved, const BlindSpots& own, const Criterion& criterion,
                                             const core::Work& work);
/// Those that are unseen here and not there.
[[nodiscard]] std::vector<BlindSpot> unseen_here_alone(const BlindSpots& here, const BlindSpots& there);

} // namespace attn::model::diagnose
