#include "attn/model/diagnose/masking.hpp"

#include "attn/core/stages.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace attn::model::diagnose {
namespace {

using core::AttentionInputs;
using core::KeyRange;

constexpr Index far = std::numeric_limits<Index>::max() / 4; // keys, padding and all

KeyRange both(KeyRange a, KeyRange b)
{
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// ---- what core is asked ----------------------------------------------------------------------------------------------------

TensorView mask_of(TensorView mask, const Variant& v)
{
    if (v.mask == MaskUse::transposed) {
        std::swap(mask.shape[2], mask.shape[3]);
        std::swap(mask.strides[2], mask.strides[3]);
    }
    return mask;
}

// ---- where a query asks from -----------------------------------------------------------------------------------------------

Index floor_to(Index position, Index tile)
{
    const Index below = position >= 0 ? position / tile : -((tile - 1 - position) / tile);
    return below * tile;
}

/// The last query of the tile that query i is in.
Index last_of_tile(const Masking& masking, Index i)
{
    const Index tile = masking.variant.tile;
    return std::min(floor_to(i, tile) + tile, masking.sizes.T) - 1;
}

/// The end of the tile of keys that the first query of that tile needs.
Index end_for_first(const Variant& v, Index i, Index p)
{
    return floor_to(p - i % v.tile + v.shift, v.tile) + v.tile;
}

/// Where a query stands among those of its head.
Index packed_place(const Masking& masking, Index h, Index i)
{
    const Index group = masking.sizes.H / masking.sizes.H_kv;
    if (masking.variant.group_packing == GroupPacking::divided) {
        return i / group;
    }
    const Index row = i * group + h % group;
    const Index first = floor_to(row, masking.variant.tile);
    return first / group + (row - first) / group;
}

Index place_of(const Masking& masking, core::RowPlace at)
{
    const Index own = masking.variant.group_packing == GroupPacking::right ? at.i : packed_place(masking, at.h, at.i);
    return own + masking.asked.offsets[static_cast<std::size_t>(at.b)];
}

/// Where query i, which stands at p, stands for the causal rule.
Index causal_place(const Masking& masking, Index i, Index p)
{
    const Variant& v = masking.variant;
    switch (v.causal) {
    case CausalUse::diagonal_tile_seen: return floor_to(p + v.shift, v.tile) + v.tile - 1;
    case CausalUse::diagonal_tile_dropped: return floor_to(p + v.shift, v.tile) - 1;
    case CausalUse::end_of_first_row: return std::min(p + v.shift, end_for_first(v, i, p) - 1);
    case CausalUse::diagonal_once: return floor_to(p - i + last_of_tile(masking, i) + v.shift, v.tile) + v.tile - 1;
    case CausalUse::restarted: return p - floor_to(i, v.tile) + v.shift;
    default: return p + v.shift;
    }
}

// ---- what it is told -------------------------------------------------------------------------------------------------------

KeyRange seen_causally(const Masking& masking, Index i, Index p)
{
    const Variant& v = masking.variant;
    const KeyRange seen = core::visible_keys(masking.asked.causal, causal_place(masking, i, p), far);
    const bool backwards = v.causal == CausalUse::backwards || v.causal == CausalUse::added_backwards;
    return !masking.asked.causal.causal      ? seen
           : v.causal == CausalUse::inverted ? KeyRange{seen.end, far}
           : backwards                       ? KeyRange{seen.end - 1, far}
                                             : seen;
}

/// What causal and window let a query see. A side of the window that is a key longer is that of a query one key further.
KeyRange placed(const Masking& masking, core::RowPlace at)
{
    const AskedOfCore& asked = masking.asked;
    const Index p = place_of(masking, at);
    return both(seen_causally(masking, at.i, p), both(core::visible_keys(asked.left, p - asked.back, far),
                                                      core::visible_keys(asked.right, p + asked.ahead, far)));
}

/// What is hidden of that, as other keys behind it are seen.
KeyRange hole(const Masking& masking, core::RowPlace at)
{
    const Variant& v = masking.variant;
    if (!masking.asked.causal.causal || v.causal != CausalUse::diagonal_once) {
        return {0, 0};
    }
    const Index p = place_of(masking, at);
    return {p + v.shift + 1, end_for_first(v, at.i, p)};
}

/// What the lengths let a query see.
KeyRange valid(const Masking& masking, Index b)
{
    const Index S = masking.sizes.S;
    if (!masking.asked.length || masking.variant.padding_zeros) {
        return {0, S};
    }
    const Index end = std::min(core::visible_keys(*masking.asked.length, {}, b, 0).end, S);
    return masking.asked.from_end ? KeyRange{S - end, S} : KeyRange{0, end};
}

void add_mask(const Masking& masking, core::RowPlace place, MaskRow& row)
{
    const MaskUse use = masking.variant.mask;
    core::Visible told = core::visible(*masking.asked.mask, {}, place);
    const Index given = std::min(told.keys.end, masking.sizes.S);
    std::fill(row.seen.begin() + given, row.seen.begin() + masking.sizes.S, char{0});
    if (masking.asked.mask->mask->type == ElementType::boolean) {
        for (Index j = 0; j < given; ++j) {
            char& seen = row.seen[static_cast<std::size_t>(j)];
            seen = told.sees(j) != (use == MaskUse::inverted) ? seen : char{0};
        }
        return;
    }
    row.added = std::move(told.bias);
    for (Index j = 0; j < given; ++j) {
        double& number = row.added(j);
        if (number == core::minus_infinity<double>) {
            char& seen = row.seen[static_cast<std::size_t>(j)];
            seen = use == MaskUse::negated ? seen : char{0};
            number = 0;
        }
        number = use == MaskUse::negated ? -number : use == MaskUse::twice ? 2 * number : number;
    }
}

/// Of all keys.
RowVector<double> distances(const Masking& masking, core::RowPlace place)
{
    RowVector<double> added = core::visible(*masking.asked.distance, {}, place).bias;
    if (masking.asked.one_sided) {
        const Index past = core::position_of(*masking.asked.distance, place.b, place.i) + 1;
        const Index later = std::clamp<Index>(added.size() - past, 0, added.size());
        added.tail(later) *= -1;
    }
    return added;
}

} // namespace

AskedOfCore::AskedOfCore(const Call& call, const Variant& v)
    : causal{.causal = (call.options.causal && v.causal != CausalUse::missing) || v.causal == CausalUse::added ||
                       v.causal == CausalUse::added_backwards}
{
    const AttendViews& views = call.views;
    const bool whole = v.along == Along::positions;
    offsets = whole ? views.offsets : std::vector<Index>(static_cast<std::size_t>(sizes_of(call, v).B));
    const auto ask = [&](std::optional<AttentionInputs>& inputs) -> AttentionInputs& {
        inputs = core::without_numbers(views.sizes);
        inputs->offsets = views.offsets;
        return *inputs;
    };
    if (call.options.window) {
        left.window = core::Window{.left = call.options.window->left};
        right.window = core::Window{.right = call.options.window->right};
    }
    if (whole && !views.lengths.empty()) {
        ask(length).lengths = views.lengths;
    }
    if (whole && views.mask && v.mask != MaskUse::missing) {
        ask(mask).mask = mask_of(*views.mask, v);
    }
    if (whole && views.segments) {
        ask(segment).segments = views.segments;
    }
    if (whole && !views.slopes.empty()) {
        ask(distance).slopes = views.slopes;
    }
    for (auto slot = static_cast<std::size_t>(whole ? Slot::length_shift : Slot::left); slot < edit_slots; ++slot) {
        if (v.edits[slot] != nullptr) {
            v.edits[slot](*this, call);
        }
    }
    for (Index n = 0; v.page > 0 && length && n < std::ssize(length->lengths); ++n) {
        Index& end = length->lengths[static_cast<std::size_t>(n)];
        end = (end + v.page - 1) / v.page * v.page;
    }
}

core::Segments moved(const core::Segments& segments, Index late, const core::AttentionDims& l)
{
    core::Segments moved = segments;
    std::ranges::fill(moved.reach, KeyRange{0, 0});
    for (Index b = 0; b < l.B; ++b) {
        for (Index j = 0; j < l.total(); ++j) {
            const Index from = std::clamp<Index>(j - late, 0, l.total() - 1);
            const std::int32_t own = segments.of_key[static_cast<std::size_t>(b * l.total() + from)];
            moved.of_key[static_cast<std::size_t>(b * l.total() + j)] = own;
            KeyRange& reach = moved.reach[static_cast<std::size_t>(own)];
            reach = {reach.end == 0 ? j : reach.begin, j + 1};
        }
    }
    return moved;
}

core::Segments of_first_entry(const core::Segments& segments, const core::AttentionDims& l)
{
    core::Segments same = segments;
    for (std::size_t at = 0; at < same.of_key.size(); ++at) {
        same.of_key[at] = segments.of_key[at % static_cast<std::size_t>(l.total())];
    }
    return same;
}

Index end_of_keys(const Masking& masking, Index b)
{
    return valid(masking, b).end;
}

Index end_of_padding(const Masking& masking, Index b)
{
    const Variant& v = masking.variant;
    const Index end = end_of_keys(masking, b);
    const bool pads = v.last_tile == LastTile::padded || v.last_tile == LastTile::capped;
    return pads ? (end + v.tile - 1) / v.tile * v.tile : end;
}

MaskRow mask_row(const Masking& masking, core::RowPlace place, Index keys)
{
    MaskRow row;
    row.seen.assign(static_cast<std::size_t>(keys), 0);
    const KeyRange near = placed(masking, place);
    const KeyRange hidden = hole(masking, place);
    const KeyRange length = valid(masking, place.b);
    const auto show = [&](std::vector<char>& seen, Index from, Index to) {
        for (Index j = std::max(from, near.begin); j < std::min(to, near.end); ++j) {
            seen[static_cast<std::size_t>(j)] = j < hidden.begin || j >= hidden.end ? 1 : 0;
        }
    };
    show(row.seen, length.begin, length.end);
    if (masking.variant.cap == Cap::after_padding) {
        row.placed.assign(row.seen.size(), 0);
        show(row.placed, 0, keys);
    }
    if (masking.asked.mask) {
        add_mask(masking, place, row);
    }
    if (masking.asked.segment) {
        const core::Visible own = core::visible(*masking.asked.segment, {}, place);
        for (std::vector<char>* seen : {&row.seen, &row.placed}) {
            for (Index j = 0; j < std::min<Index>(masking.sizes.S, std::ssize(*seen)); ++j) {
                char& sees = (*seen)[static_cast<std::size_t>(j)];
                sees = own.sees(j) ? sees : char{0};
            }
        }
    }
    if (masking.asked.distance) {
        row.distances = distances(masking, place);
    }
    const Index padded = end_of_padding(masking, place.b);
    show(row.seen, length.end, padded);
    for (RowVector<double>* numbers : {&row.added, &row.distances}) {
        if (numbers->size() > 0) {
            numbers->conservativeResize(keys);
            numbers->segment(length.end, padded - length.end).setZero();
        }
    }
    return row;
}

bool tile_reaches(const Masking& masking, core::RowPlace place, Index j)
{
    return placed(masking, {place.b, place.h, last_of_tile(masking, place.i)}).end > j;
}

} // namespace attn::model::diagnose
