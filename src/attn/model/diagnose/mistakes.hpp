// The mistakes that people make in attention, as data: what each is called, what it changes, what to do about it, and where it
// can be made at all.
#pragma once

#include "attn/model/diagnose/call.hpp"
#include "attn/model/diagnose/variant.hpp"

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::model::diagnose {

enum class Group { scores, masks, heads, softmax, tiles, precision, positions, gradients, words, draws, seeds, projections };

/// What a mistake is called, and what to do about it.
struct MistakeInfo {
    std::string name; ///< "causal-top-left"; of those with a size, "tile-last-dropped-64"
    Group group;
    std::string what;        ///< "causal mask aligned top-left": what gives the numbers
    std::string_view advice; ///< "--causal-align top-left, or align your mask at keys - queries"
    Index threads = 0;       ///< public ones in which it made numbers wrong: seen_in_public.hpp
};

/// What a mistake does to the right attention: it turns knobs of a variant, or edits what core is asked or a step of the
/// backward. nullptr: none of these.
struct Change {
    template <std::convertible_to<void (*)(Variant&)> Knobs>
    constexpr Change(Knobs its_knobs) : knobs(its_knobs)
    {
    }
    constexpr Change(Slot its_slot, Edit its_edit) : slot(its_slot), edit(its_edit) {}
    constexpr Change(StepEdit Backward::*its_step, StepEdit its_edit) : step(its_step), step_edit(its_edit) {}

    void (*knobs)(Variant&) = nullptr;
    Slot slot = Slot::lengths;
    Edit edit = nullptr;
    StepEdit Backward::*step = nullptr;
    StepEdit step_edit = nullptr;
};

/// A mistake of the attention itself.
struct Mistake : MistakeInfo {
    Change change;
    bool (*applies)(const Call&);
    Index Variant::*sized = nullptr; ///< the knob that `size` is for
    Index size = 0;
    bool backward_alone = false; ///< in the weights that the backward makes again, not in the forward

    [[nodiscard]] Variant on(Variant variant) const
    {
        variant.backward.alone = variant.backward.alone || backward_alone;
        if (change.knobs != nullptr) {
            change.knobs(variant);
        }
        if (change.edit != nullptr) {
            variant.edits[static_cast<std::size_t>(change.slot)] = change.edit;
        }
        if (change.step != nullptr) {
            variant.backward.*change.step = change.step_edit;
        }
        if (sized != nullptr) {
            variant.*sized = size;
        }
        return variant;
    }
};

/// The sizes that each mistake of tiles, vectors and parts is tried with.
inline constexpr std::array<Index, 5> tile_sizes{16, 32, 64, 128, 256};
inline constexpr std::array<Index, 5> lane_counts{4, 8, 16, 32, 64};
inline constexpr std::array<Index, 3> part_counts{2, 4, 8};

/// All of them, in the order of the groups.
[[nodiscard]] std::span<const Mistake> mistakes();
/// Whether a mistake of tiles, vectors or parts changes something in this call.
[[nodiscard]] bool size_counts(const Mistake& mistake, const Call& call);
/// Those that can be made in this call.
[[nodiscard]] std::vector<const Mistake*> mistakes_in(const Call& call);

} // namespace attn::model::diagnose
