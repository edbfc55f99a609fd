// The two products of a tile, S' = K·Qᵀ and O = O + S'ᵀ·V, for kernels_body.hpp: an outer loop over blocks that stay in
// registers and an inner one over the summed index. They stay out of line: inlined into what surrounds them, g++ 12 spills
// their registers. Loops over registers have constant bounds, so that the compiler unrolls them.
#pragma once

#include "attn/core/tiles/functions.hpp"
#include "attn/core/tiles/kernels.hpp"

namespace attn::core {
// Every name here has internal linkage, in each of the files that include this; and std::array would bring weak symbols.
// NOLINTBEGIN(misc-definitions-in-headers, modernize-avoid-c-arrays)
namespace {

/// Fetches what lies ahead from far memory, a little at a time, because many lines at once would keep other loads waiting.
class Fetch {
public:
    /// From the given number on.
    Fetch(const Ahead& ahead, Index first)
    {
        if (ahead.keys != nullptr) {
            keys_ = static_cast<const float*>(ahead.keys) + first;
            values_ = static_cast<const float*>(ahead.values) + first;
        }
    }

    void next(Index lines)
    {
        constexpr int for_reading = 0, second_level = 2;
        for (Index i = 0; keys_ != nullptr && i < lines; ++i) {
            __builtin_prefetch(keys_, for_reading, second_level);
            __builtin_prefetch(values_, for_reading, second_level);
            keys_ += cache_line;
            values_ += cache_line;
        }
    }

private:
    const float* keys_ = nullptr;
    const float* values_ = nullptr;
};

#ifdef ATTN_VECTOR_HAS_PAIRS
constexpr bool has_pairs = true;
#else
constexpr bool has_pairs = false;
// Never called:
inline Vector fma_pairs(Vector, Vector, Vector c)
{
    return c;
}
inline bool has_denormal(Vector)
{
    return false;
}
inline Integers bfloat16_of_normal(Vector v)
{
    return bfloat16_bits(v);
}
#endif

/// sum[i] = sum[i] + scalar(i) · the vectors at `from`: one term of a block's `at_once · vectors` sums, or two terms where each
/// element is a pair of bfloat16.
template <bool pairs = false, int vectors, int at_once, typename Scalar>
inline void add_products(const Scalar& scalar, const float* from, Vector (&sum)[at_once][vectors])
{
    Vector v[vectors];
    for (int n = 0; n < vectors; ++n) {
        v[n] = load(from + n * lanes);
        keep_in_register(v[n]);
    }
    for (int i = 0; i < at_once; ++i) {
        Vector s = all(scalar(i));
        keep_in_register(s);
        for (int n = 0; n < vectors; ++n) {
            sum[i][n] = pairs ? fma_pairs(s, v[n], sum[i][n]) : fma(s, v[n], sum[i][n]);
        }
    }
}

/// The columns of `vectors` vectors of queries, in blocks of `at_once` keys. Rows beyond the last key repeat it.
template <bool pairs, int vectors, int at_once>
__attribute__((noinline)) void score_columns(const Tile& tile, Index column, const float* packed, const TileFloats& K, Index d,
                                             const Ahead& ahead)
{
    const Index lines = Index{at_once} * vectors / vectors_for(tile.queries); // of what is ahead, these columns' share
    const Index keys = tile.keys, stride = K.stride;
    Fetch fetch(ahead, column / lanes * keys * d / vectors_for(tile.queries));
    Vector top[vectors];
    for (int n = 0; n < vectors; ++n) {
        top[n] = all(minus_infinity);
    }
    const float* row = K.data;
    float* out = tile.S + column;
    for (Index j = 0; j < keys; j += at_once, row += at_once * stride, out += at_once * width) {
        const float* key[at_once];
        Vector s[at_once][vectors];
        for (int i = 0; i < at_once; ++i) {
            key[i] = i == 0 ? row : key[i - 1] + (j + i < keys ? stride : 0);
            for (int n = 0; n < vectors; ++n) {
                s[i][n] = all(0);
            }
        }
        const float* q = packed + column;
        for (Index e = 0; e < d;) {
            fetch.next(lines);
            for (const Index end = smaller(e + cache_line, d); e < end; ++e, q += width) {
                add_products<pairs>([&](int i) { return key[i][e]; }, q, s);
            }
        }
        for (int i = 0; i < at_once; ++i) {
            for (int n = 0; n < vectors; ++n) {
                top[n] = max(top[n], s[i][n]);
                store(out + i * width + n * lanes, s[i][n]);
            }
        }
    }
    for (int n = 0; n < vectors; ++n) {
        store(tile.tile_maximum + column + n * lanes, top[n]);
    }
}

template <bool pairs>
void scores(const Tile& tile, const float* packed, const TileFloats& K, Index d, const Ahead& ahead)
{
    const Index vectors = vectors_for(tile.queries);
    for (Index n = 0; n < vectors;) {
        const Index step = smaller(vectors - n, most_query_vectors);
        const Index column = n * lanes;
        switch (step) {
        case 1: score_columns<pairs, 1, 8>(tile, column, packed, K, d, ahead); break;
        case 2: score_columns<pairs, 2, at_once_by_two>(tile, column, packed, K, d, ahead); break;
        case 3: score_columns<pairs, 3, 4>(tile, column, packed, K, d, ahead); break;
        default: score_columns<pairs, most_query_vectors, 4>(tile, column, packed, K, d, ahead); break;
        }
        n += step;
    }
}

/// Columns of `vectors` vectors of features, in blocks of `at_once` queries; of keys, or of pairs of them.
template <bool pairs, int vectors, int at_once>
__attribute__((noinline)) void add_columns(const Tile& tile, Index column, const TileFloats& V)
{
    const Index keys = pairs ? (tile.keys + 1) / 2 : tile.keys;
    const Index stride = V.stride; // a store of a vector might change what it likes
    for (Index q = 0; q < tile.queries; q += at_once) {
        float* O = tile.O + q * tile.features + column;
        Vector sum[at_once][vectors];
        for (int i = 0; i < at_once; ++i) {
            const Vector rescale = all(tile.rescale[q + i]);
            for (int n = 0; n < vectors; ++n) {
                sum[i][n] = tile.first ? all(0) : load(O + i * tile.features + n * lanes) * rescale;
            }
        }
        const float* weight = tile.S + q;
        const float* v_j = V.data + column;
        const float* const last = weight + keys * width;
#pragma GCC unroll 4
        for (; weight != last; weight += width, v_j += stride) {
            add_products<pairs>([=](int i) { return weight[i]; }, v_j, sum);
        }
        for (int i = 0; i < at_once; ++i) {
            for (int n = 0; n < vectors; ++n) {
                store(O + i * tile.features + n * lanes, sum[i][n]);
            }
        }
    }
}

template <bool pairs>
void add_values(const Tile& tile, const TileFloats& V)
{
    const Index vectors = tile.features / lanes;
    Index passes = (vectors + most_feature_vectors - 1) / most_feature_vectors;
    for (Index n = 0; passes > 0; --passes) {
        const Index step = (vectors - n + passes - 1) / passes; // as even as possible
        const Index column = n * lanes;
        switch (step) {
        case 1: add_columns<pairs, 1, 8>(tile, column, V); break;
        case 2: add_columns<pairs, 2, at_once_by_two>(tile, column, V); break;
        case 3: add_columns<pairs, 3, 4>(tile, column, V); break;
        case 4: add_columns<pairs, smaller(4, most_feature_vectors), 4>(tile, column, V); break;
        case 5: add_columns<pairs, smaller(5, most_feature_vectors), 4>(tile, column, V); break;
        default: add_columns<pairs, most_feature_vectors, 4>(tile, column, V); break;
        }
        n += step;
    }
}

} // namespace
// NOLINTEND(misc-definitions-in-headers, modernize-avoid-c-arrays)
} // namespace attn::core
