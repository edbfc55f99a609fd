// Which key a query sees, and with what bias: what stages, tiles, diagnosis, explanation and pictures ask.
//
// The query at `position` sees of S keys those from max(0, position - left) up to and including min(position + right, S - 1),
// with a window's sides, and none behind position if it is causal. Lengths and the end of a mask lower S, segments cut the
// range further. To the scores of a query is added one number per key, 0 unless
//
//   a mask        has a number for the key, or a boolean: 0 for true, -inf for false
//   slopes        take off slope · |position - key| (ALiBi: positions.hpp), of each head, or of each in each batch entry
//   segments      that mingle: -inf for the keys of the others
//   an extra key  stays 0, and causal, window and the end of the mask, which would hide it, are -inf for the others
//
// Otherwise the keys that causal, window, lengths, segments and the end of a mask hide lie before and behind a range, and are
// not part of the bias.
#pragma once

#include "attn/core/attention.hpp"

#include <cmath>
#include <limits>
#include <span>

namespace attn::core {

/// The place of query i before offsets, which is its row of a mask.
[[nodiscard]] Index place_of(const AttentionInputs& inputs, Index i);
/// Its place among the keys.
[[nodiscard]] Index position_of(const AttentionInputs& inputs, Index b, Index i);

/// The keys that the query at `position` may see by causal and window, of the first S.
[[nodiscard]] KeyRange visible_keys(const AttentionOptions& options, Index position, Index S);
/// What query i of batch entry b may see by its place. All keys beside an extra one: what is hidden has a bias of -inf.
[[nodiscard]] KeyRange visible_keys(const AttentionInputs& inputs, const AttentionOptions& options, Index b, Index i);

/// What ALiBi takes off a score: slope · |position - key|.
[[nodiscard]] inline double taken_off(double slope, double position, double key)
{
    return slope * std::abs(position - key);
}

/// That of query head h in batch entry b, of slopes (H) or (B, H).
[[nodiscard]] inline double slope_of(std::span<const double> slopes, Index H, Index b, Index h)
{
    return slopes[static_cast<std::size_t>(std::ssize(slopes) > H ? b * H + h : h)];
}

/// Whether there is a bias.
[[nodiscard]] bool has_bias(const AttentionInputs& inputs, const AttentionOptions& options);
/// Whether it may hold anything but the 0 and -inf of a boolean mask.
[[nodiscard]] bool has_numbers(const AttentionInputs& inputs, const AttentionOptions& options);

/// Row i of head h of batch entry b, which is that of a query.
struct RowPlace {
    Index b, h, i;

    bool operator==(const RowPlace&) const = default;
};

/// What one query sees.
struct Visible {
    KeyRange keys;          ///< others not at all
    RowVector<double> bias; ///< (P+S): of each key; empty if there is none

    /// What is added to its score of a key: -inf where it does not see that.
    [[nodiscard]] double added(Index key) const
    {
        return key < keys.begin || key >= keys.end ? -std::numeric_limits<double>::infinity()
               : bias.size() == 0                  ? 0
                                                   : bias(key);
    }
    [[nodiscard]] bool sees(Index key) const { return added(key) != -std::numeric_limits<double>::infinity(); }
};
/// Of the inputs it reads what hides and adds, and the shapes of queries, keys, values and cache. Throws as load_bias().
[[nodiscard]] Visible visible(const AttentionInputs& inputs, const AttentionOptions& options, RowPlace place);
/// Inputs of these sizes without numbers, which are enough to ask that of; the keys of a cache are among S.
[[nodiscard]] AttentionInputs without_numbers(const AttentionDims& dims);

/// Where a block of scores lies in (B, H, T, S).
struct BiasPlace {
    Index b, h;
    Index row, rows;
    Index key, keys;
};

/// What a mask leaves of a block of scores: nothing; some of them, or it adds numbers; all as they are. Not found out yet, at
/// first.
enum class Seen : std::uint8_t { unknown, none, some, all };

/// Of `count` elements of a mask side by side, at least one. `some` also for a type that is neither boolean nor floating.
[[nodiscard]] Seen seen_of(const std::byte* from, Index count, ElementType type);
/// Of the keys that the mask has an element for; of what an option adds to a bias it knows nothing. `some` also where the
/// inputs make a bias more than a mask, where elements do not lie side by side, and for a boolean that is neither 0 nor 1.
[[nodiscard]] Seen seen_by_mask(const AttentionInputs& inputs, const BiasPlace& place);

/// (rows, keys) → (rows, stride): the numbers to add to scores, -inf for a key that is not seen; 0 where the mask has ended.
/// Of what visible_keys() hides it tells only beside an extra key, where that gives every key. Returns whether anything is
/// seen. Throws Error(data) for a boolean that is neither 0 nor 1.
template <typename Scalar>
[[nodiscard]] bool load_bias(const AttentionInputs& inputs, const AttentionOptions& options, const BiasPlace& place, Scalar* to,
                             Index stride);

extern template bool load_bias(const AttentionInputs&, const AttentionOptions&, const BiasPlace&, float*, Index);
extern template bool load_bias(const AttentionInputs&, const AttentionOptions&, const BiasPlace&, double*, Index);

} // namespace attn::core
