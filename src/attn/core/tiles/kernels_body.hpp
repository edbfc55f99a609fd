// The kernels of kernels.hpp, written once over the vectors of vector_….hpp; each kernels_….cpp includes both and makes its
// table.
#pragma once

#include "attn/core/tiles/functions.hpp"
#include "attn/core/tiles/kernels.hpp"
#include "attn/core/tiles/products.hpp"
#include "attn/core/tiles/softmax.hpp"

namespace attn::core {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

// ---- copies ----------------------------------------------------------------------------------------------------------

template <ElementType type>
void pack_queries_as(const TileRows& Q, Index queries, Index d, float* packed)
{
    const Index stride = Q.stride * bytes_each<type>;
    for (Index q = 0; q < queries; q += lanes) {
        for (Index e = 0; e < d; e += lanes) {
            Vector block[lanes];
            load_transposed<type>(Q.data + q * stride + e * bytes_each<type>, stride, queries - q, d - e, block);
            store_rows(block, d - e, packed + e * width + q, width);
        }
    }
}

template <ElementType type>
void copy_rows_as(const TileRows& from, Index count, Index d, float* to, Index stride)
{
    for (Index i = 0; i < count; ++i) {
        const std::byte* row = from.data + i * from.stride * bytes_each<type>;
        for (Index e = 0; e < d; e += lanes) {
            store(to + i * stride + e, load_part<type>(row + e * bytes_each<type>, d - e));
        }
    }
}

void pack_queries(const TileRows& Q, Index queries, Index d, float* packed)
{
    switch (Q.type) {
    case ElementType::float16: return pack_queries_as<ElementType::float16>(Q, queries, d, packed);
    case ElementType::bfloat16: return pack_queries_as<ElementType::bfloat16>(Q, queries, d, packed);
    default: return pack_queries_as<ElementType::float32>(Q, queries, d, packed);
    }
}

void copy_rows(const TileRows& from, Index rows, Index d, float* to, Index stride)
{
    switch (from.type) {
    case ElementType::float16: return copy_rows_as<ElementType::float16>(from, rows, d, to, stride);
    case ElementType::bfloat16: return copy_rows_as<ElementType::bfloat16>(from, rows, d, to, stride);
    default: return copy_rows_as<ElementType::float32>(from, rows, d, to, stride);
    }
}

// ---- a look at the inputs --------------------------------------------------------------------------------------------

/// Without its sign a number orders as its bits do, NaN above infinity.
template <ElementType type, bool above_zero>
float largest_as(const TileRows& from, Index rows, Index d)
{
    constexpr std::uint32_t magnitude = 0x7fffffff;
    constexpr int at_once = 4;
    const Index stride = from.stride * bytes_each<type>;
    Integers most[at_once] = {};
    const auto look = [&](Vector v, int i) {
        const auto bits = (Integers)(above_zero ? (v <= all(0) ? all(0) : v) : v) & magnitude;
        most[i] = bits > most[i] ? bits : most[i];
    };
    for (Index row = 0; row < rows; ++row) {
        const std::byte* p = from.data + row * stride;
        Index e = 0;
        for (; e + at_once * lanes <= d; e += at_once * lanes) {
            for (int i = 0; i < at_once; ++i) {
                look(load_as<type>(p + (e + i * lanes) * bytes_each<type>), i);
            }
        }
        for (; e < d; e += lanes) {
            look(load_part<type>(p + e * bytes_each<type>, d - e), 0);
        }
    }
    std::uint32_t one = 0;
    for (const Integers& each : most) {
        for (Index i = 0; i < lanes; ++i) {
            one = each[i] > one ? each[i] : one;
        }
    }
    return __builtin_bit_cast(float, one);
}

template <bool above_zero>
float largest_of_type(const TileRows& from, Index rows, Index d)
{
    switch (from.type) {
    case ElementType::float16: return largest_as<ElementType::float16, above_zero>(from, rows, d);
    case ElementType::bfloat16: return largest_as<ElementType::bfloat16, above_zero>(from, rows, d);
    default: return largest_as<ElementType::float32, above_zero>(from, rows, d);
    }
}

float largest(const TileRows& from, Index rows, Index d, bool above_zero)
{
    const bool gapless = from.stride == d;
    const Index count = gapless ? 1 : rows, length = gapless ? rows * d : d;
    return above_zero ? largest_of_type<true>(from, count, length) : largest_of_type<false>(from, count, length);
}

// ---- scores ----------------------------------------------------------------------------------------------------------

/// Calls change(vector, key, column) for every vector of S and puts back what it returns.
template <typename Change>
inline void for_each_score(const Tile& tile, Change change)
{
    const Index columns = vectors_for(tile.queries) * lanes;
    for (Index j = 0; j < tile.keys; ++j) {
        for (Index q = 0; q < columns; q += lanes) {
            float* at = tile.S + j * width + q;
            store(at, change(load(at), j, q));
        }
    }
}

void cap(const Tile& tile, float scale, float cap)
{
    if (cap == 0) {
        return for_each_score(tile, [=](Vector s, Index, Index) { return s * all(scale); });
    }
    for_each_score(tile, [=](Vector s, Index, Index) { return tanh(s * all(scale) / all(cap)) * all(cap); });
}

void take_off_distances(const Tile& tile, float scale, float slope, const float* position)
{
    for_each_score(tile, [=](Vector s, Index j, Index q) {
        const Vector ahead = load(position + q) - all(static_cast<float>(j)); // exact, as far as anyone has tokens
        return fma(max(ahead, -ahead), all(-slope), s * all(scale));
    });
}

void add_bias(const Tile& tile, const float* bias, Index stride)
{
    const Index columns = vectors_for(tile.queries) * lanes;
    for (Index q = 0; q < columns; q += lanes) {
        for (Index j = 0; j < tile.keys; j += lanes) {
            Vector b[lanes];
            const auto* from = reinterpret_cast<const std::byte*>(bias + q * stride + j);
            load_transposed<ElementType::float32>(from, stride * bytes_each<ElementType::float32>, lanes, lanes, b);
            for (int i = 0; i < lanes; ++i) { // S has rows to spare
                float* at = tile.S + (j + i) * width + q;
                store(at, load(at) + b[i]);
            }
        }
    }
}

void mask(const Tile& tile, const float* begin, const float* end)
{
    for_each_score(tile, [=](Vector s, Index j, Index q) {
        const Vector key = all(static_cast<float>(j));
        const Vector cut = key < load(end + q) ? s : all(minus_infinity);
        return key < load(begin + q) ? all(minus_infinity) : cut;
    });
}

void find_maximum(const Tile& tile)
{
    const Index columns = vectors_for(tile.queries) * lanes;
    for (Index q = 0; q < columns; q += lanes) {
        Vector top = all(minus_infinity);
        for (Index j = 0; j < tile.keys; ++j) {
            top = max(top, load(tile.S + j * width + q));
        }
        store(tile.tile_maximum + q, top);
    }
}

void round_powers(const Tile& tile, ElementType type)
{
    if (type == ElementType::float16) {
        for_each_score(tile, [](Vector s, Index, Index) { return rounded_to<ElementType::float16>(s); });
    } else if (type == ElementType::bfloat16) {
        for_each_score(tile, [](Vector s, Index, Index) { return rounded_to<ElementType::bfloat16>(s); });
    }
}

// ---- pairs of bfloat16 -----------------------------------------------------------------------------------------------

constexpr std::uint32_t half_magnitude = 0x7fff;
constexpr std::uint32_t half_fraction = 0x7f;

inline bool any_of(Integers bits)
{
    std::uint32_t any = 0;
    for (Index i = 0; i < lanes; ++i) {
        any |= bits[i];
    }
    return any != 0;
}

/// The highest bit of each half that is denormal, above 0 and without exponent, of two in each element; other bits are
/// anything.
inline Integers denormal_halves(Integers pair)
{
    constexpr std::uint32_t to_one = 0x7fff7fff, to_exponent = 0x7f807f80; // what brings such a number to the highest bit
    const Integers magnitude = pair & (half_magnitude * 0x10001U);
    return (magnitude + to_one) & ~(magnitude + to_exponent);
}

inline bool has_highest_bits(Integers pairs)
{
    constexpr std::uint32_t highest = 0x80008000;
    return any_of(pairs & highest);
}

/// At most `lanes`; zeros after them.
inline Integers load_some_halves(const std::byte* p, Index count)
{
    if (count >= lanes) {
        return load_halves(p);
    }
    alignas(Vector) std::byte part[sizeof(Vector)] = {};
    __builtin_memcpy(part, p, static_cast<std::size_t>(count * bytes_each<ElementType::bfloat16>));
    return load_halves(part);
}

inline Integers paired(Integers first, Integers second)
{
    return first | second << bfloat16_shift;
}

bool pair_values(const TileRows& V, Index rows, Index d, float* to, Index stride)
{
    Integers denormal = {};
    for (Index j = 0; j < rows; j += 2, to += stride) {
        const std::byte* const row = V.data + j * V.stride * bytes_each<ElementType::bfloat16>;
        const std::byte* const next = row + V.stride * bytes_each<ElementType::bfloat16>;
        for (Index e = 0; e < d; e += lanes) {
            const Index at = e * bytes_each<ElementType::bfloat16>;
            const Integers first = load_some_halves(row + at, d - e);
            const Integers second = j + 1 < rows ? load_some_halves(next + at, d - e) : Integers{};
            const Integers pair = paired(first, second);
            denormal |= denormal_halves(pair);
            store(to + e, (Vector)pair);
        }
    }
    return has_highest_bits(denormal);
}

/// S rounded to pairs of keys, in its first rows. Returns whether one of them may be denormal.
bool pair_powers(const Tile& tile)
{
    const Index columns = vectors_for(tile.queries) * lanes;
    bool denormal = false;
    for (Index j = 0; j < tile.keys; j += 2) {
        for (Index q = 0; q < columns; q += lanes) {
            const Vector first = load(tile.S + j * width + q);
            const Vector second = j + 1 < tile.keys ? load(tile.S + (j + 1) * width + q) : all(0);
            const bool small = has_denormal(first) || has_denormal(second);
            denormal = denormal || small;
            store(tile.S + j / 2 * width + q, (Vector)(small ? paired(bfloat16_bits(first), bfloat16_bits(second))
                                                             : paired(bfloat16_of_normal(first), bfloat16_of_normal(second))));
        }
    }
    return denormal;
}

/// O = O + Sᵀ·V for the denormal numbers of S alone, which fma_pairs takes for 0.
void add_denormal_weights(const Tile& tile, const TileFloats& V)
{
    for (Index j = 0; j < tile.keys; ++j) {
        const std::uint32_t shift = j % 2 == 0 ? bfloat16_shift : 0;
        for (Index q = 0; q < tile.queries; ++q) {
            const auto pair = __builtin_bit_cast(std::uint32_t, tile.S[j / 2 * width + q]);
            const std::uint32_t half = (pair << shift) >> bfloat16_shift;
            if ((half & half_magnitude) == 0 || (half & half_magnitude) > half_fraction) {
                continue;
            }
            const Vector weight = all(__builtin_bit_cast(float, half << bfloat16_shift));
            for (Index e = 0; e < tile.features; e += lanes) {
                const auto pairs = (Integers)load(V.data + j / 2 * V.stride + e);
                const auto value = (Vector)((pairs << shift) >> bfloat16_shift << bfloat16_shift);
                float* const O = tile.O + q * tile.features + e;
                store(O, fma(weight, value, load(O)));
            }
        }
    }
}

void add_value_pairs(const Tile& tile, const TileFloats& V)
{
    const bool denormal = pair_powers(tile);
    add_values<true>(tile, V);
    if (denormal) {
        add_denormal_weights(tile, V);
    }
}

// ---- results ---------------------------------------------------------------------------------------------------------

template <ElementType type>
void finish_as(const Tile& tile, Index rows, Index d_v, float empty, const TileTarget& to)
{
    for (Index q = 0; q < rows; q += lanes) { // rescale has served
        store(tile.rescale + q, all(1) / load(tile.sum + q));
    }
    const float* const sum = tile.sum; // a store of a vector might change what it likes
    const float* const inverse = tile.rescale;
    const float* O = tile.O;
    const Index features = tile.features, stride = to.stride * bytes_each<type>;
    std::byte* row = to.data;
    for (Index i = 0; i < rows; ++i, O += features, row += stride) {
        const bool seen = sum[i] != 0;
        Index e = 0;
        for (; seen && e + lanes <= d_v; e += lanes) {
            store_as<type>(row + e * bytes_each<type>, load(O + e) * all(inverse[i]));
        }
        for (; e < d_v; e += lanes) {
            store_part<type>(row + e * bytes_each<type>, seen ? load(O + e) * all(inverse[i]) : all(empty), d_v - e);
        }
    }
}

template <ElementType type>
void store_scores_as(const Tile& tile, Index rows, float factor, const TileTarget& to)
{
    const Index stride = to.stride * bytes_each<type>;
    for (Index q = 0; q < rows; q += lanes) {
        for (Index j = 0; j < tile.keys; j += lanes) { // S has rows to spare
            Vector s[lanes];
            const auto* from = reinterpret_cast<const std::byte*>(tile.S + j * width + q);
            load_transposed<ElementType::float32>(from, width * bytes_each<ElementType::float32>, lanes, lanes, s);
            std::byte* at = to.data + q * stride + j * bytes_each<type>;
            if (rows - q >= lanes && tile.keys - j >= lanes) {
                for (int i = 0; i < lanes; ++i) {
                    store_as<type>(at + i * stride, s[i] * all(factor));
                }
                continue;
            }
            for (Index i = 0; i < smaller(lanes, rows - q); ++i) {
                store_part<type>(at + i * stride, s[i] * all(factor), tile.keys - j);
            }
        }
    }
}

void finish(const Tile& tile, Index rows, Index d_v, float empty, const TileTarget& to)
{
    switch (to.type) {
    case ElementType::float16: return finish_as<ElementType::float16>(tile, rows, d_v, empty, to);
    case ElementType::bfloat16: return finish_as<ElementType::bfloat16>(tile, rows, d_v, empty, to);
    default: return finish_as<ElementType::float32>(tile, rows, d_v, empty, to);
    }
}

void store_scores(const Tile& tile, Index rows, float factor, const TileTarget& to)
{
    switch (to.type) {
    case ElementType::float16: return store_scores_as<ElementType::float16>(tile, rows, factor, to);
    case ElementType::bfloat16: return store_scores_as<ElementType::bfloat16>(tile, rows, factor, to);
    default: return store_scores_as<ElementType::float32>(tile, rows, factor, to);
    }
}

// ---- the machine's peak ----------------------------------------------------------------------------------------------

Index multiply_add(Index rounds)
{
    constexpr int chains = 12;  // more than two units of four cycles need, and they fit into sixteen registers
    constexpr Index steps = 86; // 12 · 86 ≥ 1024
    Vector x[chains];
    for (Vector& chain : x) {
        chain = all(1);
    }
    Vector a = all(0.5F), b = all(0.25F);
    for (Index step = 0; step < rounds * steps; ++step) {
        keep_in_register(a); // or the loop would be worth nothing
        keep_in_register(b);
        for (Vector& chain : x) {
            chain = fma(chain, a, b);
        }
    }
    for (Vector& chain : x) {
        keep_in_register(chain);
    }
    return 2 * lanes * chains * steps * rounds;
}

constexpr TileKernels table{lanes,
                            width,
                            key_tile,
                            pack_queries,
                            copy_rows,
                            largest,
                            scores<false>,
                            has_pairs ? scores<true> : nullptr,
                            cap,
                            take_off_distances,
                            add_bias,
                            mask,
                            find_maximum,
                            powers,
                            round_powers,
                            add_values<false>,
                            has_pairs ? pair_values : nullptr,
                            has_pairs ? add_value_pairs : nullptr,
                            merge,
                            finish,
                            weights,
                            store_scores,
                            multiply_add};

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::core
