// What a variant hides, and what it adds to the scores.
#pragma once

#include "attn/model/diagnose/operands.hpp"

#include <vector>

namespace attn::model::diagnose {

struct MaskRow {
    std::vector<double> added;     ///< empty, or a number for each key; 0 where the mask's own is -inf
    std::vector<double> distances; ///< empty, or what is added to the score of each key by its distance
    std::vector<char> seen;        ///< for each key, padded ones among them
};

/// The end of the keys that batch entry b has by its length; without lengths S.
[[nodiscard]] Index end_of_keys(const Call& call, const Variant& variant, Index b);
/// The end of the padding behind them, if the last tile has any: LastTile::padded.
[[nodiscard]] Index end_of_padding(const Call& call, const Variant& variant, Index b);

/// Of query i of a head, `keys` of them; those from S on are padding.
[[nodiscard]] MaskRow mask_row(const Call& call, const Variant& variant, Index b, Index h, Index i, Index keys);

/// Whether causal and window let the last query of the tile that i is in see so far as key j; tiles are as large as those of
/// keys.
[[nodiscard]] bool tile_reaches(const Call& call, const Variant& variant, Index b, Index i, Index j);

} // namespace attn::model::diagnose
