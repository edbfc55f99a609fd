// The largest weights of a head.
#pragma once

#include "attn/model/run/summary.hpp"

#include <span>
#include <vector>

namespace attn::model {

/// Larger weights first, then in the order of the array.
[[nodiscard]] bool is_stronger(const Pair& a, const Pair& b);

/// Of values (rows, `columns`), row-major, those above 0: the `top` strongest, or all where there are fewer, the strongest
/// first. `query` and `key` of a pair are its row and column. Holds no more than `top` of them at once.
template <typename Scalar>
[[nodiscard]] std::vector<Pair> strongest_pairs(std::span<const Scalar> values, Index columns, Index top);

extern template std::vector<Pair> strongest_pairs(std::span<const float>, Index, Index);
extern template std::vector<Pair> strongest_pairs(std::span<const double>, Index, Index);

} // namespace attn::model
