// The inner loops of the tiled path as plain functions over raw pointers, one table of them an instruction set.
//
// A tile is some keys by some queries. Its scores lie transposed, S[key · width + query], so that what a query gathers (its
// maximum, its sum) is a vertical operation on vectors of queries. Only pointers and numbers cross this boundary: each table is
// compiled with its own flags, and nothing that the linker could merge with the rest of the program may come out of it.
#pragma once

#include "attn/tensor/element.hpp"

namespace attn::core {

constexpr Index cache_line = 16; ///< float32s of one

/// Rows of float32, float16 or bfloat16 in another's memory; `stride` in elements.
struct TileRows {
    const std::byte* data;
    Index stride;
    ElementType type;
};
/// Rows that the products read.
struct TileFloats {
    const float* data;
    Index stride;
};
struct TileTarget {
    std::byte* data;
    Index stride;
    ElementType type;
};

/// Memory that is wanted soon and probably far away: keys and values, or what comes after the last of them. It need not exist;
/// nullptr when all is near.
struct Ahead {
    const void* keys;
    const void* values;
};

/// What one query tile works on, all in scratch memory. The kernels of a table read and write whole vectors: each column count
/// is rounded up to `lanes`.
struct Tile {
    Index queries;       ///< columns in use
    Index keys;          ///< rows in use
    bool first;          ///< nothing was added to O yet
    bool far;            ///< scores may be as large as float32 goes: their maximum is subtracted before anything is rounded
    Index features;      ///< d_v, rounded up to whole vectors: the row length of O
    float* S;            ///< (key_tile + lanes, query_tile): raw scores, then scores, then powers of two
    float* tile_maximum; ///< (query_tile)
    float* maximum;      ///< (query_tile): of all tiles so far
    float* sum;          ///< (query_tile): of the powers of two of all tiles so far
    float* rescale;      ///< (query_tile): what the last tile's maximum made of everything before it
    float* O;            ///< (query_tile, features): Σ powers · V so far
};

struct TileKernels {
    Index lanes, query_tile, key_tile;

    /// Q (queries, d) → packed (d, query_tile), float32; columns beyond `queries` are 0.
    void (*pack_queries)(const TileRows& Q, Index queries, Index d, float* packed);
    /// (rows, d) → (rows, stride), float32, filled up with zeros to whole vectors.
    void (*copy_rows)(const TileRows& from, Index rows, Index d, float* to, Index stride);

    /// The largest magnitude in (rows, d), or the largest number above 0 where `above_zero`; NaN if one is, 0 without any.
    float (*largest)(const TileRows& from, Index rows, Index d, bool above_zero);

    /// S = K·Qᵀ, and tile_maximum of it. K (keys, d). Meanwhile about as many numbers as K has are fetched from either place
    /// ahead.
    void (*scores)(const Tile& tile, const float* packed, const TileFloats& K, Index d, const Ahead& ahead);
    /// The same of pairs of bfloat16, d / 2 of them, each as the bits of one number of K and `packed`; what is denormal counts
    /// as 0. nullptr without instructions for it.
    void (*score_pairs)(const Tile& tile, const float* packed, const TileFloats& K, Index d, const Ahead& ahead);
    /// S = cap · tanh(S · scale / cap); S = S · scale when cap is 0.
    void (*cap)(const Tile& tile, float scale, float cap);
    /// S = S · scale - slope · |position - key|, positions (query_tile) and keys counted from the tile's first key.
    void (*take_off_distances)(const Tile& tile, float scale, float slope, const float* position);
    /// S = S + biasᵀ. bias (queries, stride); -inf masks.
    void (*add_bias)(const Tile& tile, const float* bias, Index stride);
    /// -inf where the key, counted from the tile's first, is below begin or not below end of its query.
    void (*mask)(const Tile& tile, const float* begin, const float* end);
    /// tile_maximum of S, once it was changed.
    void (*find_maximum)(const Tile& tile);

    /// maximum = max(maximum, tile_maximum); S = 2^((S - maximum) · factor), exactly 0 for -inf; rescale; sum.
    void (*powers)(const Tile& tile, float factor);
    /// S rounded to float16 or bfloat16; sum was made before. Nothing for another type.
    void (*round_powers)(const Tile& tile, ElementType type);
    /// O = O · rescale + Sᵀ·V. V (keys, features).
    void (*add_values)(const Tile& tile, const TileFloats& V);
    /// V (rows, d), bfloat16 → (rows / 2, stride), rounded up: of every two keys a pair, each as the bits of one number, the
    /// second of a last pair perhaps 0. Returns whether one of them is denormal. nullptr without instructions for pairs.
    bool (*pair_values)(const TileRows& V, Index rows, Index d, float* to, Index stride);
    /// O = O · rescale + Sᵀ·V, S rounded to bfloat16 and V as pair_values leaves it, without denormals; those of S count. S is
    /// used up.
    void (*add_value_pairs)(const Tile& tile, const TileFloats& V);
    /// maximum, sum and O of both, under the same factor, into those of `tile`; `from` has seen other keys.
    void (*merge)(const Tile& tile, const Tile& from, float factor);
    /// O / sum, or `empty` where sum is 0 → (rows, d_v)
    void (*finish)(const Tile& tile, Index rows, Index d_v, float empty, const TileTarget& to);

    /// For the second pass, when maximum and sum are those of the whole row: S = 2^((S - maximum) · factor) / sum, the weights;
    /// information += Σ weight · (S - maximum) · factor, (query_tile).
    void (*weights)(const Tile& tile, float factor, float* information);
    /// Sᵀ · factor → (rows, keys)
    void (*store_scores)(const Tile& tile, Index rows, float factor, const TileTarget& to);

    /// See isa.hpp.
    Index (*multiply_add)(Index rounds);
};

/// Each exists only in programs for its architecture.
extern const TileKernels avx2_kernels, avx512_kernels, avx512_bf16_kernels, neon_kernels;

} // namespace attn::core
