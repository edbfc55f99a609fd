#include "attn/model/diagnose/masking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace attn::model::diagnose {
namespace {

/// Keys [begin, end).
struct Range {
    Index begin, end;
    void keep(Index from, Index to)
    {
        begin = std::max(begin, from);
        end = std::min(end, to);
    }
};

constexpr Index far = std::numeric_limits<Index>::max() / 4;

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

/// Of query i, which stands at p.
void keep_causal(const Call& call, const Variant& v, Index i, Index p, Range& seen)
{
    switch (v.causal) {
    case CausalUse::right:
    case CausalUse::added: return seen.keep(-far, p + v.shift + 1);
    case CausalUse::missing: return;
    case CausalUse::inverted: return seen.keep(p + v.shift + 1, far);
    case CausalUse::backwards: return seen.keep(p + v.shift, far);
    case CausalUse::diagonal_tile_seen: return seen.keep(-far, floor_to(p + v.shift, v.tile) + v.tile);
    case CausalUse::diagonal_tile_dropped: return seen.keep(-far, floor_to(p + v.shift, v.tile));
    case CausalUse::end_of_first_row: return seen.keep(-far, std::min(p + v.shift + 1, end_for_first(v, i, p)));
    case CausalUse::diagonal_once:
        return seen.keep(-far, floor_to(p - i + last_of_tile(call, v, i) + v.shift, v.tile) + v.tile);
    case CausalUse::restarted: return seen.keep(-far, p - floor_to(i, v.tile) + v.shift + 1);
    }
}

void keep_window(const core::Window& window, const Variant& v, Index p, Range& seen)
{
    const Index left = window.left < 0 || v.window_left_open ? far : window.left + v.window_left;
    const Index right = window.right < 0 || v.window_right_open ? far : window.right + v.window_right;
    seen.keep(p - left, p + (v.window_right_as_left ? left : right) + 1);
}

/// What causal and window let query i see.
Range placed(const Call& call, const Variant& v, Index b, Index i)
{
    const Index p = i + offset_of(call, v, b);
    Range seen{-far, far};
    if (call.options.causal || v.causal == CausalUse::added) {
        keep_causal(call, v, i, p, seen);
    }
    if (call.options.window && !v.window_missing) {
        keep_window(*call.options.window, v, p, seen);
    }
    return seen;
}

/// What is hidden of that, as other keys behind it are seen.
Range hole(const Call& call, const Variant& v, Index b, Index i)
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
Range valid(const Call& call, const Variant& v, Index b, Index S)
{
    if (call.views.lengths.empty() || v.lengths == LengthUse::missing || v.along != Along::positions) {
        return {0, S};
    }
    const Index length = std::clamp<Index>(length_given(call, v.lengths, b) + v.length_shift, 0, S);
    return v.lengths == LengthUse::other_end ? Range{S - length, S} : Range{0, length};
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
    const Range place = placed(call, variant, b, i);
    const Range hidden = hole(call, variant, b, i);
    const Range length = valid(call, variant, b, S);
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
