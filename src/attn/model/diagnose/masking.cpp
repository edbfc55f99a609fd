#include "attn/model/diagnose/masking.hpp"

#include "attn/core/visibility.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace attn::model::diagnose {
namespace {

using core::KeyRange;

constexpr Index far = std::numeric_limits<Index>::max() / 4; // keys, padding and all

KeyRange both(KeyRange a, KeyRange b)
{
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

Index length_of(const Call& call, Index b)
{
    return call.views.lengths.empty() ? call.views.sizes.total() : call.views.lengths[static_cast<std::size_t>(b)];
}

Index offset_of(const Call& call, const Variant& v, Index b)
{
    const core::AttentionDims& l = call.views.sizes;
    if (v.along != Along::positions) {
        return 0;
    }
    switch (v.offset) {
    case Offset::right: return call.views.offsets[static_cast<std::size_t>(b)];
    case Offset::top_left: return 0;
    case Offset::bottom_right: return length_of(call, b) - l.T;
    case Offset::all_keys: return l.total() - l.T;
    case Offset::cache: return l.P;
    }
    return 0;
}

Index floor_to(Index position, Index tile)
{
    const Index below = position >= 0 ? position / tile : -((tile - 1 - position) / tile);
    return below * tile;
}

/// The last query of the tile that query i is in.
Index last_of_tile(const Call& call, const Variant& v, Index i)
{
    return std::min(floor_to(i, v.tile) + v.tile, sizes_of(call, v).T) - 1;
}

/// The end of the tile of keys that the first query of that tile needs.
Index end_for_first(const Variant& v, Index i, Index p)
{
    return floor_to(p - i % v.tile + v.shift, v.tile) + v.tile;
}

/// Where query i, which stands at p, stands for the causal rule.
Index causal_place(const Call& call, const Variant& v, Index i, Index p)
{
    switch (v.causal) {
    case CausalUse::diagonal_tile_seen: return floor_to(p + v.shift, v.tile) + v.tile - 1;
    case CausalUse::diagonal_tile_dropped: return floor_to(p + v.shift, v.tile) - 1;
    case CausalUse::end_of_first_row: return std::min(p + v.shift, end_for_first(v, i, p) - 1);
    case CausalUse::diagonal_once: return floor_to(p - i + last_of_tile(call, v, i) + v.shift, v.tile) + v.tile - 1;
    case CausalUse::restarted: return p - floor_to(i, v.tile) + v.shift;
    default: return p + v.shift;
    }
}

KeyRange seen_causally(const Call& call, const Variant& v, Index i, Index p)
{
    const bool causal = (call.options.causal || v.causal == CausalUse::added) && v.causal != CausalUse::missing;
    const KeyRange seen = core::visible_keys({.causal = causal}, causal_place(call, v, i, p), far);
    return !causal                            ? seen
           : v.causal == CausalUse::inverted  ? KeyRange{seen.end, far}
           : v.causal == CausalUse::backwards ? KeyRange{seen.end - 1, far}
                                              : seen;
}

/// A side that is a key longer is that of a query one key further.
KeyRange seen_in_window(const Call& call, const Variant& v, Index p)
{
    if (!call.options.window || v.window_missing) {
        return {0, far};
    }
    const auto [given_left, given_right] = *call.options.window;
    const Index left = v.window_left_open ? -1 : given_left;
    const Index right = v.window_right_as_left ? left : v.window_right_open ? -1 : given_right;
    return both(core::visible_keys({.window = core::Window{.left = left}}, p - v.window_left, far),
                core::visible_keys({.window = core::Window{.right = right}},
                                   p + (v.window_right_as_left ? v.window_left : v.window_right), far));
}

/// What causal and window let query i see.
KeyRange placed(const Call& call, const Variant& v, Index b, Index i)
{
    const Index p = i + offset_of(call, v, b);
    return both(seen_causally(call, v, i, p), seen_in_window(call, v, p));
}

/// What is hidden of that, as other keys behind it are seen.
KeyRange hole(const Call& call, const Variant& v, Index b, Index i)
{
    if (!call.options.causal || v.causal != CausalUse::diagonal_once) {
        return {0, 0};
    }
    const Index p = i + offset_of(call, v, b);
    return {p + v.shift + 1, end_for_first(v, i, p)};
}

/// The length that batch entry b gets.
Index length_given(const Call& call, LengthUse use, Index b)
{
    const Index B = call.views.sizes.B;
    if (use == LengthUse::ascending || use == LengthUse::descending) {
        std::vector<Index> sorted(call.views.lengths.begin(), call.views.lengths.end());
        std::ranges::sort(sorted);
        return sorted[static_cast<std::size_t>(use == LengthUse::ascending ? b : B - 1 - b)];
    }
    return length_of(call, use == LengthUse::first ? 0 : use == LengthUse::reversed ? B - 1 - b : b);
}

/// What the lengths let it see, of S keys.
KeyRange valid(const Call& call, const Variant& v, Index b, Index S)
{
    if (call.views.lengths.empty() || v.lengths == LengthUse::missing || v.along != Along::positions) {
        return {0, S};
    }
    const Index length = std::clamp<Index>(length_given(call, v.lengths, b) + v.length_shift, 0, S);
    return v.lengths == LengthUse::other_end ? KeyRange{S - length, S} : KeyRange{0, length};
}

std::vector<double> row_of_mask(const TensorView& mask, const Variant& v, Index b, Index h, Index i)
{
    if (v.mask != MaskUse::transposed) {
        const Matrix<double> row = load_matrix<double>(row_block(slice(mask, std::array{b, h}), i, 1), {});
        return {row.data(), row.data() + row.size()};
    }
    std::vector<double> column;
    for (Index j = 0; j < mask.shape[2]; ++j) {
        column.push_back(mask.at(std::array{b, h, j, i}));
    }
    return column;
}

void apply_mask(const TensorView& mask, const Variant& v, const std::vector<double>& numbers, MaskRow& row, Index S)
{
    const bool boolean = mask.type == ElementType::boolean;
    const auto given = std::min<Index>(S, static_cast<Index>(numbers.size()));
    std::fill(row.seen.begin() + given, row.seen.begin() + S, char{0});
    if (!boolean) {
        row.added.assign(row.seen.size(), 0);
    }
    for (Index j = 0; j < given; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const double number = numbers[at];
        if (boolean) {
            row.seen[at] = row.seen[at] != 0 && (number != 0) != (v.mask == MaskUse::inverted) ? 1 : 0;
        } else if (number == -std::numeric_limits<double>::infinity()) {
            row.seen[at] = row.seen[at] != 0 && v.mask == MaskUse::negated ? 1 : 0;
        } else {
            row.added[at] = v.mask == MaskUse::negated ? -number : v.mask == MaskUse::twice ? 2 * number : number;
        }
    }
}

double slope_of(const Call& call, DistanceUse use, Index h)
{
    const std::vector<double>& slopes = call.views.slopes;
    const auto plain = [&](Index number) {
        return std::exp2(-8 * static_cast<double>(number) / static_cast<double>(slopes.size()));
    };
    switch (use) {
    case DistanceUse::first_slope: return slopes.front();
    case DistanceUse::reversed: return slopes[slopes.size() - 1 - static_cast<std::size_t>(h)];
    case DistanceUse::late_slopes: return plain(h);
    case DistanceUse::plain_slopes: return plain(h + 1);
    default: return slopes[static_cast<std::size_t>(h)];
    }
}

/// Of S keys; padding has none.
std::vector<double> distances(const Call& call, const Variant& v, Index b, Index h, Index i, Index keys)
{
    std::vector<double> added(static_cast<std::size_t>(keys));
    const double slope = slope_of(call, v.distances, h) * (v.distances == DistanceUse::added ? 1 : -1);
    const Index p = i + (v.distances == DistanceUse::top_left ? 0 : call.views.offsets[static_cast<std::size_t>(b)]);
    for (Index j = 0; j < sizes_of(call, v).S; ++j) {
        const auto distance = static_cast<double>(v.distances == DistanceUse::one_sided ? p - j : std::abs(p - j));
        added[static_cast<std::size_t>(j)] = slope * distance;
    }
    return added;
}

/// Hides the keys of other segments.
void keep_segment(const Call& call, const Variant& v, Index b, Index i, std::vector<char>& seen)
{
    const Index keys = call.views.sizes.total();
    const Index shift = v.segments == SegmentUse::late ? -1 : v.segments == SegmentUse::early ? 1 : 0;
    const auto segment = [&](Index j) {
        const Index at = std::clamp<Index>(j + shift, 0, keys - 1);
        return j < 0 || j >= keys ? -1 : call.views.segments->of_key[static_cast<std::size_t>(b * keys + at)];
    };
    const std::int32_t own = segment(i + call.views.offsets[static_cast<std::size_t>(b)]);
    for (Index j = 0; j < std::min(keys, static_cast<Index>(seen.size())); ++j) {
        seen[static_cast<std::size_t>(j)] = own >= 0 && segment(j) == own ? seen[static_cast<std::size_t>(j)] : char{0};
    }
}

} // namespace

Index end_of_keys(const Call& call, const Variant& variant, Index b)
{
    return valid(call, variant, b, sizes_of(call, variant).S).end;
}

Index end_of_padding(const Call& call, const Variant& variant, Index b)
{
    const Index end = end_of_keys(call, variant, b);
    return variant.last_tile == LastTile::padded ? (end + variant.tile - 1) / variant.tile * variant.tile : end;
}

MaskRow mask_row(const Call& call, const Variant& variant, Index b, Index h, Index i, Index keys)
{
    const Index S = sizes_of(call, variant).S;
    MaskRow row;
    row.seen.assign(static_cast<std::size_t>(keys), 0);
    const KeyRange place = placed(call, variant, b, i);
    const KeyRange hidden = hole(call, variant, b, i);
    const KeyRange length = valid(call, variant, b, S);
    const auto show = [&](Index from, Index to) {
        for (Index j = std::max(from, place.begin); j < std::min(to, place.end); ++j) {
            row.seen[static_cast<std::size_t>(j)] = j < hidden.begin || j >= hidden.end ? 1 : 0;
        }
    };
    show(length.begin, length.end);
    if (call.views.mask && variant.mask != MaskUse::missing && variant.along == Along::positions) {
        apply_mask(*call.views.mask, variant, row_of_mask(*call.views.mask, variant, b, h, i), row, S);
    }
    if (variant.along == Along::positions) {
        if (call.views.segments && variant.segments != SegmentUse::missing) {
            keep_segment(call, variant, b, i, row.seen);
        }
        if (!call.views.slopes.empty() && variant.distances != DistanceUse::missing) {
            row.distances = distances(call, variant, b, h, i, keys);
        }
    }
    const Index padded = end_of_padding(call, variant, b);
    show(length.end, padded);
    for (std::vector<double>* numbers : {&row.added, &row.distances}) {
        if (!numbers->empty()) {
            std::fill(numbers->begin() + length.end, numbers->begin() + padded, 0.0);
        }
    }
    return row;
}

bool tile_reaches(const Call& call, const Variant& variant, Index b, Index i, Index j)
{
    return placed(call, variant, b, last_of_tile(call, variant, i)).end > j;
}

} // namespace attn::model::diagnose
