// The mistakes that people make in attention, as data: what each is called, what it changes, what to do about it, and where it
// can be made at all.
#pragma once

#include "attn/core/attention.hpp"
#include "attn/model/diagnose/variant.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::model::diagnose {

/// What is right in this call: on it depends which mistakes can be made.
struct Setting {
    core::AttentionDims sizes;
    ElementType type = ElementType::float32; ///< of the queries
    bool side_by_side = false;               ///< heads lie beside each other in the last dimension
    bool scale_given = false, softcap = false;
    bool causal = false, window = false, lengths = false;
    bool window_left = false, window_right = false; ///< the sides that are closed
    bool boolean_mask = false, number_mask = false;
    bool alibi = false, sinks = false, segments = false;
    bool placed = false;     ///< query 0 of some batch entry does not stand at key 0
    bool short_mask = false; ///< that ends before the keys do
    bool embedding = false;  ///< the size of the embeddings is known, and not that of all heads

    [[nodiscard]] bool masked() const { return causal || window || lengths || boolean_mask || number_mask || segments; }
    [[nodiscard]] bool square() const { return sizes.T == sizes.total() && sizes.P == 0; }
    [[nodiscard]] bool equal_sizes() const { return sizes.d_k == sizes.d_v; }
    [[nodiscard]] bool grouped() const { return sizes.H != sizes.H_kv; }
};

enum class Group { scores, masks, heads, softmax, tiles, precision, positions, words, draws, projections };

/// What a mistake is called, and what to do about it.
struct MistakeInfo {
    std::string name; ///< "causal-top-left"; of those with a size, "tile-last-dropped-64"
    Group group;
    std::string what;        ///< "causal mask aligned top-left": what gives the numbers
    std::string_view advice; ///< "--causal-align top-left, or align your mask at keys - queries"
};

/// A mistake of the attention itself.
struct Mistake : MistakeInfo {
    void (*change)(Variant&);
    bool (*applies)(const Setting&);
    Index Variant::*sized = nullptr; ///< the knob that `size` is for
    Index size = 0;

    [[nodiscard]] Variant on(Variant variant) const
    {
        change(variant);
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
/// Those that can be made in this call.
[[nodiscard]] std::vector<const Mistake*> mistakes_in(const Setting& setting);

} // namespace attn::model::diagnose
