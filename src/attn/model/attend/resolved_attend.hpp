// What a call of attend is asked for, judged once, before anything is computed: in the order of the fields here. What computes
// takes this value and refuses nothing more of it.
#pragma once

#include "attn/core/parallel.hpp"
#include "attn/model/attend/attend_layout.hpp"

#include <optional>
#include <vector>

namespace attn::model {

/// Sequences of different lengths that lie one after another, (total, H, d), as FlashAttention's varlen functions take them.
/// (N+1) each: where every sequence begins, and the last one ends.
struct Boundaries {
    std::vector<Index> queries, keys;

    [[nodiscard]] Index count() const { return std::ssize(queries) - 1; }
};

/// The place of query 0 among the keys of a sequence with T queries and S keys.
[[nodiscard]] inline Index offset_in_sequence(CausalAlign align, Index T, Index S)
{
    return align == CausalAlign::bottom_right ? S - T : 0;
}

/// A stage that is asked for, as it will be given.
struct AskedStage {
    Item item;
    ElementType type;
    Shape shape;
};

/// In the order of Item. Throws as attend() for shapes and stages; nobody looks at a number.
[[nodiscard]] std::vector<AskedStage> asked_stages(const AttendInputs& inputs, const Attend& options);

/// Refers to what it is made of.
struct ResolvedAttend {
    /// Throws as attend().
    ResolvedAttend(const AttendInputs& its_inputs, const Attend& its_options, const RunSettings& its_settings);

    const AttendInputs& inputs;
    const Attend& options;
    const RunSettings& settings;
    AttendViews views;              ///< shapes that go together; the numbers that place and hide keys; what tiles need
    std::vector<AskedStage> stages; ///< in the order of Item; there is memory for them, and for the work
    core::Work work;                ///< how it is computed
    std::optional<Boundaries> sequences = {}; ///< that lie one after another
};

/// Computes it. Only memory can end on the way.
[[nodiscard]] AttendResult attend(const ResolvedAttend& call);

} // namespace attn::model
