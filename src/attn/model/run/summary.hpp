// What the weights of each head say, in a few numbers.
#pragma once

#include "attn/tensor/tensor.hpp"

#include <optional>
#include <span>
#include <vector>

namespace attn::model {

struct Layer;
struct Result;

/// Positions count from 0 in the whole sentence, those of the keys in theirs.
struct Pair {
    Index query = 0, key = 0;
    double weight = 0;
};

/// Of each row of weights that the result has (with --query, only those), the mean over the rows that have such a key; nothing
/// where no row has. A row that masks leave without keys counts as zeros. "(bias)" is a key, but not a neighbour of any word.
struct HeadSummary {
    double entropy = 0;             ///< in nats; every row has one
    std::optional<double> itself;   ///< weight of the key at the query's own position
    double first = 0;               ///< weight of key 0
    std::optional<double> previous; ///< weight of the key before the query's position; position 0 has none
    std::optional<double> next;     ///< weight of the key after it; the last position has none
    std::vector<Pair> pairs;        ///< the largest weights above 0, of equal ones first the one that stands first in the array
    std::optional<double> same = {};      ///< weight of the other places of the query's own word
    std::optional<double> induction = {}; ///< weight of the keys right after earlier places of the query's own word
};

/// Of cross-attention, whose keys are other words, a head has the entropy and the first key alone.
struct Summary {
    Dtype dtype = Dtype::float32; ///< of the weights
    double largest_entropy = 0;   ///< ln S, whatever the masks leave of the S keys
    std::vector<HeadSummary> heads;
    HeadSummary equal = {}; ///< of weights that are equal over what each row sees: all keys, or those up to its own
};

/// Of the weights of one of its layers, which it must have, and its entropy, or that of the weights, with up to `top` (≥ 1)
/// pairs a head. Means are summed in double, row by row.
[[nodiscard]] Summary summarize(const Result& result, const Layer& layer, Index top);

/// Of each layer that has weights, with the strongest pair of each head: for pictures.
[[nodiscard]] std::vector<Summary> summaries_of(const Result& result);

inline constexpr Index usual_top = 3;
inline constexpr Index largest_top = 1000;

/// Larger weights first, then in the order of the array.
[[nodiscard]] bool is_stronger(const Pair& a, const Pair& b);

/// Of values (rows, `columns`), row-major, those above 0: the `top` strongest, or all where there are fewer, the strongest
/// first. `query` and `key` of a pair are its row and column. Holds no more than `top` of them at once.
template <typename Scalar>
[[nodiscard]] std::vector<Pair> strongest_pairs(std::span<const Scalar> values, Index columns, Index top);

extern template std::vector<Pair> strongest_pairs(std::span<const float>, Index, Index);
extern template std::vector<Pair> strongest_pairs(std::span<const double>, Index, Index);

} // namespace attn::model
