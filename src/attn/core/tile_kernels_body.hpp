// The kernels of tile_kernels.hpp, written once over the vectors of vector_….hpp; each tiled_….cpp includes both and makes its
// table. Loops over registers have constant bounds, so that the compiler unrolls them and keeps their arrays in registers.
//
// The two products have an outer loop over blocks and an inner one over the summed index. They stay out of line: inlined into
// what surrounds them g++ 12 spills their registers.
#pragma once

#include "attn/core/tile_functions.hpp"
#include "attn/core/tile_kernels.hpp"

namespace attn::core {
namespace {

constexpr Index width = Index{query_vectors} * lanes; ///< queries of a tile: the row length of S and of packed queries

constexpr Index smaller(Index a, Index b)
{
    return a < b ? a : b;
}

inline Index vectors_for(Index columns)
{
    return (columns + lanes - 1) / lanes;
}

// ---- copies ----------------------------------------------------------------------------------------------------------

template <ElementType type>
void pack_queries_as(const TileRows& Q, Index queries, Index d, float* packed)
{
    for (Index first = 0; first < vectors_for(queries) * lanes; first += lanes) {
        for (Index e = 0; e < d; e += lanes) {
            Vector rows[lanes];
            for (int i = 0; i < lanes; ++i) {
                const std::byte* row = Q.data + ((first + i) * Q.stride + e) * bytes_each<type>;
                rows[i] = first + i < queries ? load_part<type>(row, d - e) : all(0);
            }
            transpose(rows);
            for (int i = 0; i < smaller(lanes, d - e); ++i) {
                store(packed + (e + i) * width + first, rows[i]);
            }
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

// ---- scores ----------------------------------------------------------------------------------------------------------

/// The columns of `vectors` vectors of queries, in blocks of `at_once` keys. Rows beyond the last key repeat it.
template <int vectors, int at_once>
__attribute__((noinline)) void score_columns(const Tile& tile, Index column, const float* packed, const float* K, Index stride,
                                             Index d)
{
    Vector top[vectors];
    for (int n = 0; n < vectors; ++n) {
        top[n] = all(minus_infinity);
    }
    for (Index j = 0; j < tile.keys; j += at_once) {
        const float* key[at_once];
        Vector s[at_once][vectors];
        for (int i = 0; i < at_once; ++i) {
            key[i] = K + smaller(j + i, tile.keys - 1) * stride;
            for (int n = 0; n < vectors; ++n) {
                s[i][n] = all(0);
            }
        }
        const float* q_e = packed + column;
        for (Index e = 0; e < d; ++e, q_e += width) {
            Vector q[vectors];
            for (int n = 0; n < vectors; ++n) {
                q[n] = load(q_e + n * lanes);
                keep_in_register(q[n]);
            }
            for (int i = 0; i < at_once; ++i) {
                Vector k = all(key[i][e]);
                keep_in_register(k);
                for (int n = 0; n < vectors; ++n) {
                    s[i][n] = fma(k, q[n], s[i][n]);
                }
            }
        }
        float* out = tile.S + j * width + column;
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

void scores(const Tile& tile, const float* packed, const float* K, Index stride, Index d)
{
    const Index vectors = vectors_for(tile.queries);
    for (Index n = 0; n < vectors;) {
        const Index step = smaller(vectors - n, most_query_vectors);
        const Index column = n * lanes;
        switch (step) {
        case 1: score_columns<1, 8>(tile, column, packed, K, stride, d); break;
        case 2: score_columns<2, 4>(tile, column, packed, K, stride, d); break;
        case 3: score_columns<3, 4>(tile, column, packed, K, stride, d); break;
        default: score_columns<most_query_vectors, 4>(tile, column, packed, K, stride, d); break;
        }
        n += step;
    }
}

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

void add_bias(const Tile& tile, const float* bias, Index stride)
{
    const Index columns = vectors_for(tile.queries) * lanes;
    for (Index q = 0; q < columns; q += lanes) {
        for (Index j = 0; j < tile.keys; j += lanes) {
            Vector b[lanes];
            for (int i = 0; i < lanes; ++i) {
                b[i] = load(bias + (q + i) * stride + j);
            }
            transpose(b);
            for (int i = 0; i < lanes; ++i) { // S has rows to spare
                float* at = tile.S + (j + i) * width + q;
                store(at, load(at) + b[i]);
            }
        }
    }
}

void hide(const Tile& tile, const float* begin, const float* end)
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

// ---- softmax ---------------------------------------------------------------------------------------------------------

/// What scores are taken from: 0 where there was no key yet, so that -inf stays -inf.
inline Vector base_of(Vector maximum)
{
    return maximum == all(minus_infinity) ? all(0) : maximum;
}

void powers(const Tile& tile, float factor)
{
    const Vector c = all(factor);
    const Index columns = vectors_for(tile.queries) * lanes;
    for (Index q = 0; q < columns; q += lanes) {
        const Vector before = load(tile.maximum + q);
        const Vector now = max(before, load(tile.tile_maximum + q));
        const Vector base = base_of(now);
        const Vector rescale = exp2((before - base) * c);
        store(tile.maximum + q, now);
        store(tile.rescale + q, rescale);
        Vector sum = all(0); // of this tile alone: small numbers first
        for (Index j = 0; j < tile.keys; ++j) {
            float* at = tile.S + j * width + q;
            const Vector p = exp2((load(at) - base) * c);
            store(at, p);
            sum = sum + p;
        }
        store(tile.sum + q, fma(load(tile.sum + q), rescale, sum));
    }
}

void weights(const Tile& tile, float factor, float* information)
{
    const Vector c = all(factor);
    const Index columns = vectors_for(tile.queries) * lanes;
    for (Index q = 0; q < columns; q += lanes) {
        const Vector base = base_of(load(tile.maximum + q));
        const Vector sum = load(tile.sum + q);
        const Vector inverse = all(1) / (sum == all(0) ? all(1) : sum);
        Vector gathered = load(information + q);
        for (Index j = 0; j < tile.keys; ++j) {
            float* at = tile.S + j * width + q;
            const Vector t = (load(at) - base) * c;
            const Vector w = exp2(t) * inverse;
            store(at, w);
            gathered = w == all(0) ? gathered : fma(w, t, gathered);
        }
        store(information + q, gathered);
    }
}

// ---- context ---------------------------------------------------------------------------------------------------------

/// Columns of `vectors` vectors of features, in blocks of `at_once` queries.
template <int vectors, int at_once>
__attribute__((noinline)) void add_columns(const Tile& tile, Index column, const float* V, Index stride)
{
    for (Index q = 0; q < tile.queries; q += at_once) {
        Vector sum[at_once][vectors];
        float* O = tile.O + q * tile.features + column;
        for (int i = 0; i < at_once; ++i) {
            const Vector rescale = all(tile.rescale[q + i]);
            for (int n = 0; n < vectors; ++n) {
                sum[i][n] = load(O + i * tile.features + n * lanes) * rescale;
            }
        }
        const float* weight = tile.S + q;
        const float* v_j = V + column;
        for (Index j = 0; j < tile.keys; ++j, weight += width, v_j += stride) {
            Vector v[vectors];
            for (int n = 0; n < vectors; ++n) {
                v[n] = load(v_j + n * lanes);
                keep_in_register(v[n]);
            }
            for (int i = 0; i < at_once; ++i) {
                Vector w = all(weight[i]);
                keep_in_register(w);
                for (int n = 0; n < vectors; ++n) {
                    sum[i][n] = fma(w, v[n], sum[i][n]);
                }
            }
        }
        for (int i = 0; i < at_once; ++i) {
            for (int n = 0; n < vectors; ++n) {
                store(O + i * tile.features + n * lanes, sum[i][n]);
            }
        }
    }
}

void add_values(const Tile& tile, const float* V, Index stride)
{
    const Index vectors = tile.features / lanes;
    Index passes = (vectors + most_feature_vectors - 1) / most_feature_vectors;
    for (Index n = 0; passes > 0; --passes) {
        const Index step = (vectors - n + passes - 1) / passes; // as even as possible
        const Index column = n * lanes;
        switch (step) {
        case 1: add_columns<1, 8>(tile, column, V, stride); break;
        case 2: add_columns<2, 4>(tile, column, V, stride); break;
        case 3: add_columns<3, 4>(tile, column, V, stride); break;
        case 4: add_columns<smaller(4, most_feature_vectors), 4>(tile, column, V, stride); break;
        case 5: add_columns<smaller(5, most_feature_vectors), 4>(tile, column, V, stride); break;
        default: add_columns<most_feature_vectors, 4>(tile, column, V, stride); break;
        }
        n += step;
    }
}

// ---- results ---------------------------------------------------------------------------------------------------------

template <ElementType type>
void finish_as(const Tile& tile, Index rows, Index d_v, float empty, const TileTarget& to)
{
    for (Index i = 0; i < rows; ++i) {
        const float sum = tile.sum[i];
        const Vector inverse = all(sum == 0 ? 0 : 1 / sum);
        std::byte* row = to.data + i * to.stride * bytes_each<type>;
        for (Index e = 0; e < d_v; e += lanes) {
            const Vector o = sum == 0 ? all(empty) : load(tile.O + i * tile.features + e) * inverse;
            store_part<type>(row + e * bytes_each<type>, o, d_v - e);
        }
    }
}

template <ElementType type>
void store_scores_as(const Tile& tile, Index rows, float factor, const TileTarget& to)
{
    for (Index q = 0; q < rows; q += lanes) {
        for (Index j = 0; j < tile.keys; j += lanes) {
            Vector s[lanes];
            for (int i = 0; i < lanes; ++i) { // S has rows to spare
                s[i] = load(tile.S + (j + i) * width + q);
            }
            transpose(s);
            for (int i = 0; i < smaller(lanes, rows - q); ++i) {
                std::byte* at = to.data + ((q + i) * to.stride + j) * bytes_each<type>;
                store_part<type>(at, s[i] * all(factor), tile.keys - j);
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
    for (int i = 0; i < chains; ++i) {
        x[i] = all(static_cast<float>(i));
    }
    Vector a = all(0.5F), b = all(0.25F);
    for (Index step = 0; step < rounds * steps; ++step) {
        keep_in_register(a); // or the loop would be worth nothing
        keep_in_register(b);
        for (int i = 0; i < chains; ++i) {
            x[i] = fma(x[i], a, b);
        }
    }
    for (int i = 0; i < chains; ++i) {
        keep_in_register(x[i]);
    }
    return 2 * lanes * chains * steps * rounds;
}

constexpr TileKernels table{lanes, width,        key_tile, pack_queries, copy_rows, scores,  cap,          add_bias,
                            hide,  find_maximum, powers,   add_values,   finish,    weights, store_scores, multiply_add};

} // namespace
} // namespace attn::core
