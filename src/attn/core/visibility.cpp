#include "attn/core/visibility.hpp"

#include "attn/core/stages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace attn::core {
namespace {

/// Of batch entry b, as far as the mask reaches and without the extra key.
Index valid_keys(const AttentionInputs& inputs, Index b)
{
    const Index all = inputs.dims().total() - (inputs.extra_key ? 1 : 0);
    const Index length = inputs.lengths.empty() ? all : inputs.lengths[static_cast<std::size_t>(b)];
    return std::min({all, length, inputs.mask ? inputs.mask->shape[3] : all});
}

/// Of the key at a query's place; -1 where there is none.
std::int32_t segment_at(const AttentionInputs& inputs, Index b, Index position)
{
    const Index keys = inputs.dims().total();
    return position < 0 || position >= keys ? -1 : inputs.segments->of_key[static_cast<std::size_t>(b * keys + position)];
}

/// Whether all elements are `open`, or all `hidden`, bit by bit.
template <typename Bits>
Seen seen_of(const std::byte* from, Index count, Bits open, Bits hidden)
{
    Bits first = 0;
    std::memcpy(&first, from, sizeof(Bits));
    if (first != open && first != hidden) {
        return Seen::some;
    }
    Bits others = 0;
    for (Index j = 0; j < count; ++j) {
        Bits bits = 0;
        std::memcpy(&bits, from + j * Index{sizeof(Bits)}, sizeof(Bits));
        others |= bits ^ first;
    }
    return others != 0 ? Seen::some : first == open ? Seen::all : Seen::none;
}

/// A row of booleans that lie side by side; false when one of them is neither 0 nor 1.
template <typename Scalar>
bool load_booleans(const std::byte* from, Index count, Scalar* to)
{
    unsigned all = 0;
    for (Index j = 0; j < count; ++j) {
        const auto seen = std::to_integer<unsigned>(from[j]);
        all |= seen;
        to[j] = seen != 0 ? 0 : minus_infinity<Scalar>;
    }
    return all <= 1;
}

/// The numbers of `count` keys from place.key on, for which the mask has an element.
template <typename Scalar>
void load_mask(const AttentionInputs& inputs, const BiasPlace& place, Index count, Scalar* to, Index stride)
{
    const auto row_of = [&](Index i) { return place_of(inputs, place.row + i); };
    TensorView mask = slice(*inputs.mask, std::array{place.b, place.h});
    mask.shape[1] = count;
    mask.bytes = mask.bytes.subspan(static_cast<std::size_t>(place.key * mask.strides[1] * size_of(mask.type)));
    const bool boolean = mask.type == ElementType::boolean;
    bool plain = boolean && (count <= 1 || mask.strides[1] == 1);
    for (Index i = 0; plain && i < place.rows; ++i) {
        const std::byte* row = mask.bytes.data() + row_of(i) * mask.strides[0];
        plain = load_booleans(row, count, to + i * stride);
    }
    if (plain) {
        return;
    }
    // Here what is wrong with a boolean is found, and said.
    bool together = true;
    for (Index i = 1; i < place.rows; ++i) {
        together = together && row_of(i) == row_of(0) + i;
    }
    const Index at_once = together ? place.rows : 1;
    for (Index first = 0; first < place.rows; first += at_once) {
        const Matrix<Scalar> values = load_matrix<Scalar>(row_block(mask, row_of(first), at_once), {});
        for (Index i = 0; i < at_once; ++i) {
            for (Index j = 0; j < count; ++j) {
                to[(first + i) * stride + j] = !boolean ? values(i, j) : values(i, j) != 0 ? 0 : minus_infinity<Scalar>;
            }
        }
    }
}

/// ALiBi for a query at `position`, counted from the first of these keys: slope·|position - j| in double, then rounded.
template <typename Scalar>
void take_off_distances(double slope, Index position, Index keys, Scalar* row)
{
    const auto from = static_cast<double>(position);
    const auto count = static_cast<std::int32_t>(keys); // converted to double by a vector at a time, as 64 bits are not
    for (std::int32_t j = 0; j < count; ++j) {
        row[j] -= static_cast<Scalar>(taken_off(slope, from, static_cast<double>(j)));
    }
}

template <typename Scalar>
void hide_other_segments(const AttentionInputs& inputs, const BiasPlace& place, Index position, Scalar* row)
{
    const std::int32_t own = segment_at(inputs, place.b, position);
    const std::int32_t* others = inputs.segments->of_key.data() + place.b * inputs.dims().total() + place.key;
    for (Index j = 0; j < place.keys; ++j) {
        row[j] = others[j] == own ? row[j] : minus_infinity<Scalar>;
    }
}

/// The extra key, the last, is open to every query.
template <typename Scalar>
void hide_but_extra(const AttentionInputs& inputs, KeyRange visible, const BiasPlace& place, Scalar* row)
{
    const Index extra = inputs.dims().total() - 1;
    for (Index j = 0, key = place.key; j < place.keys; ++j, ++key) {
        row[j] = key == extra ? 0 : key >= visible.begin && key < visible.end ? row[j] : minus_infinity<Scalar>;
    }
}

} // namespace

Index place_of(const AttentionInputs& inputs, Index i)
{
    return inputs.query_positions.empty() ? i : inputs.query_positions[static_cast<std::size_t>(i)];
}

Index position_of(const AttentionInputs& inputs, Index b, Index i)
{
    return place_of(inputs, i) + (inputs.offsets.empty() ? 0 : inputs.offsets[static_cast<std::size_t>(b)]);
}

KeyRange visible_keys(const AttentionOptions& options, Index position, Index S)
{
    KeyRange range{0, S};
    if (options.causal) {
        range.end = std::min(range.end, position + 1);
    }
    if (options.window && options.window->left >= 0) {
        range.begin = std::max(range.begin, position - options.window->left);
    }
    if (options.window && options.window->right >= 0) {
        range.end = std::min(range.end, position + options.window->right + 1);
    }
    range.begin = std::min(range.begin, S);
    range.end = std::max(range.end, range.begin);
    return range;
}

KeyRange visible_keys(const AttentionInputs& inputs, const AttentionOptions& options, Index b, Index i)
{
    if (inputs.extra_key) { // load_bias hides
        return {0, inputs.dims().total()};
    }
    const Index position = position_of(inputs, b, i);
    KeyRange keys = visible_keys(options, position, valid_keys(inputs, b));
    if (inputs.segments) {
        const std::int32_t own = segment_at(inputs, b, position);
        const KeyRange reach = own < 0 ? KeyRange{0, 0} : inputs.segments->reach[static_cast<std::size_t>(own)];
        keys = {std::max(keys.begin, reach.begin), std::min(keys.end, reach.end)};
        keys.end = std::max(keys.end, keys.begin);
    }
    return keys;
}

bool has_bias(const AttentionInputs& inputs, const AttentionOptions& options)
{
    const bool mingled = inputs.segments && inputs.segments->interleaved;
    return inputs.mask || !inputs.slopes.empty() || mingled || (inputs.extra_key && inputs.masked(options));
}

bool has_numbers(const AttentionInputs& inputs, const AttentionOptions& options)
{
    const bool numbers = inputs.mask && inputs.mask->type != ElementType::boolean;
    return numbers || !inputs.slopes.empty() || (inputs.extra_key && has_bias(inputs, options));
}

Visible visible(const AttentionInputs& inputs, const AttentionOptions& options, RowPlace place)
{
    Visible seen{visible_keys(inputs, options, place.b, place.i), {}};
    if (has_bias(inputs, options)) {
        seen.bias.resize(inputs.dims().total());
        const BiasPlace row{place.b, place.h, place.i, 1, 0, seen.bias.size()};
        (void)load_bias(inputs, options, row, seen.bias.data(), seen.bias.size());
    }
    return seen;
}

AttentionInputs without_numbers(const AttentionDims& dims)
{
    AttentionInputs inputs;
    inputs.queries.shape = {dims.B, dims.H, dims.T, dims.d_k};
    inputs.keys.shape = {dims.B, dims.H_kv, dims.total(), dims.d_k};
    inputs.values.shape = {dims.B, dims.H_kv, dims.total(), dims.d_v};
    return inputs;
}

Seen seen_of(const std::byte* from, Index count, ElementType type)
{
    switch (type) {
    case ElementType::boolean: return seen_of<std::uint8_t>(from, count, 1, 0);
    case ElementType::float16: return seen_of<std::uint16_t>(from, count, 0, 0xfc00);
    case ElementType::bfloat16: return seen_of<std::uint16_t>(from, count, 0, 0xff80);
    case ElementType::float32: return seen_of<std::uint32_t>(from, count, 0, 0xff800000);
    case ElementType::float64: return seen_of<std::uint64_t>(from, count, 0, 0xfff0000000000000);
    default: return Seen::some;
    }
}

Seen seen_by_mask(const AttentionInputs& inputs, const BiasPlace& place)
{
    if (!inputs.mask || !inputs.slopes.empty() || inputs.segments || inputs.extra_key || inputs.mask->swapped ||
        inputs.mask->strides[3] != 1) {
        return Seen::some;
    }
    const TensorView mask = slice(*inputs.mask, std::array{place.b, place.h});
    const Index count = std::min(place.keys, mask.shape[1] - place.key);
    Seen seen = count > 0 ? Seen::unknown : Seen::some;
    for (Index i = 0; i < place.rows && seen != Seen::some; ++i) {
        const Index first = place_of(inputs, place.row + i) * mask.strides[0] + place.key;
        const Seen of_row = seen_of(mask.bytes.data() + first * size_of(mask.type), count, mask.type);
        seen = i == 0 || seen == of_row ? of_row : Seen::some;
    }
    return seen;
}

template <typename Scalar>
bool load_bias(const AttentionInputs& inputs, const AttentionOptions& options, const BiasPlace& place, Scalar* to, Index stride)
{
    const Index given = inputs.mask ? std::clamp<Index>(inputs.mask->shape[3] - place.key, 0, place.keys) : 0;
    if (given > 0) {
        load_mask(inputs, place, given, to, stride);
    }
    const Index judged = inputs.mask && !inputs.extra_key ? given : place.keys; // those whose bias says if they are seen
    bool seen = false;
    for (Index i = 0; i < place.rows; ++i) {
        Scalar* row = to + i * stride;
        std::fill(row + given, row + place.keys, Scalar{0});
        const Index position = position_of(inputs, place.b, place.row + i);
        if (!inputs.slopes.empty()) {
            const double slope = slope_of(inputs.slopes, inputs.queries.shape[1], place.b, place.h);
            take_off_distances(slope, position - place.key, place.keys, row);
        }
        if (inputs.segments && inputs.segments->interleaved) {
            hide_other_segments(inputs, place, position, row);
        }
        if (inputs.extra_key) {
            hide_but_extra(inputs, visible_keys(options, position, valid_keys(inputs, place.b)), place, row);
        }
        seen = seen || std::any_of(row, row + judged, [](Scalar value) { return value != minus_infinity<Scalar>; });
    }
    return seen;
}

template bool load_bias(const AttentionInputs&, const AttentionOptions&, const BiasPlace&, float*, Index);
template bool load_bias(const AttentionInputs&, const AttentionOptions&, const BiasPlace&, double*, Index);

} // namespace attn::core
