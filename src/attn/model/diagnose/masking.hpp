// What a query sees under a variant, and what is added to its scores.
//
// The answer is core's (visibility.hpp). What a variant changes is what core is asked: a mistake edits options, offsets,
// lengths, segments, mask or slopes, or moves the place that a query asks from. Only what core has no rule for is decided here:
// rules upside down, tiles with a hole, padding.
#pragma once

#include "attn/core/visibility.hpp"
#include "attn/model/diagnose/operands.hpp"

#include <vector>

namespace attn::model::diagnose {

struct MaskRow {
    RowVector<double> added;     ///< empty, or a number for each key; 0 where the mask's own is -inf
    RowVector<double> distances; ///< empty, or what is added to the score of each key by its distance
    std::vector<char> seen;      ///< for each key, padded ones among them
    std::vector<char> placed;    ///< likewise, as if mask and lengths hid nothing; of Cap::after_padding alone
};

/// What core is asked for a variant of a call, each thing alone; nothing where it would say nothing. For many threads.
struct AskedOfCore {
    AskedOfCore(const Call& call, const Variant& variant);

    core::AttentionOptions causal, left, right; ///< left and right: the sides of the window
    Index back = 0, ahead = 0;                  ///< added to those
    std::vector<Index> offsets;                 ///< of all three: a number for each batch entry
    std::optional<core::AttentionInputs> length, mask, segment, distance;
    bool from_end = false;     ///< the lengths count from the last key
    bool one_sided = false;    ///< later keys gain by distance
    bool before_scale = false; ///< the distance is taken off the raw score
};

/// Segments that begin `late` positions later.
[[nodiscard]] core::Segments moved(const core::Segments& segments, Index late, const core::AttentionDims& l);

/// Those of batch entry 0 for all.
[[nodiscard]] core::Segments of_first_entry(const core::Segments& segments, const core::AttentionDims& l);

/// A variant of a call, both of which outlive it.
struct Masking {
    Masking(const Call& of, const Variant& as) : call(of), variant(as), sizes(sizes_of(of, as)), asked(of, as) {}

    const Call& call;
    const Variant& variant;
    core::AttentionDims sizes; ///< of the variant
    AskedOfCore asked;
};

/// The end of the keys that batch entry b has by its length; without lengths S.
[[nodiscard]] Index end_of_keys(const Masking& masking, Index b);
/// The end of the padding behind them, if the last tile has any: LastTile::padded and capped.
[[nodiscard]] Index end_of_padding(const Masking& masking, Index b);

/// Of a query, `keys` of them; those from S on are padding.
[[nodiscard]] MaskRow mask_row(const Masking& masking, core::RowPlace place, Index keys);

/// Whether causal and window let the last query of the tile that a row is in see so far as key j; tiles are as large as those
/// of keys.
[[nodiscard]] bool tile_reaches(const Masking& masking, core::RowPlace place, Index j);

} // namespace attn::model::diagnose
