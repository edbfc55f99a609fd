// What every tile of one tiled_attention shares, and one tile of queries on its way through the tiles of keys.
#pragma once

#include "attn/core/tiled.hpp"
#include "attn/core/tiles/kernels.hpp"
#include "attn/core/visibility.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace attn::core {

/// As many as it takes.
[[nodiscard]] constexpr Index tiles_in(Index count, Index tile)
{
    return (count + tile - 1) / tile;
}

/// nullptr for what is portable or not available.
[[nodiscard]] const TileKernels* kernels_of(Isa isa);

/// Row `row` of matrix (b, h) of a view of four dimensions, and on.
[[nodiscard]] TileRows rows_at(const TensorView& view, Index b, Index h, Index row);

/// Keys whose sums are gathered on their own before they are added to those of the keys before: as many for every call, so that
/// threads may share them and change no byte.
constexpr Index part_keys = 1024;

/// What the mask leaves of each tile, found out when it is first asked for, unless look() was there before; heads that share a
/// mask share that too. The inputs are always the same ones.
class SeenTiles {
public:
    SeenTiles(const AttentionInputs& inputs, const TileKernels& kernels);

    /// Of a whole tile.
    [[nodiscard]] Seen at(const AttentionInputs& inputs, const BiasPlace& place) const;

    /// Finds out all of it from a mask of numbers, which is read once, row by row. Returns the largest number above 0, NaN if
    /// one is.
    float look(const AttentionInputs& inputs, const TileKernels& kernels, const Work& work);

private:
    /// A tile of queries, under a mask of its own.
    struct Band {
        Index b, h, tile;
    };
    float look_at_band(const AttentionInputs& inputs, const TileKernels& kernels, const Band& band);
    /// What there is of the tile of queries and its first tile of keys, and on.
    [[nodiscard]] std::atomic<Seen>* seen_of(const Band& band) const;
    [[nodiscard]] KeyRange keys_of_tile(Index tile) const;

    Index query_tile_, key_tile_, past_, total_, query_tiles_, key_tiles_;
    Index batches_ = 0, heads_ = 0; ///< different masks
    Index batch_ = 0, head_ = 0;    ///< steps between them; 0 where it is the same one
    mutable std::vector<std::atomic<Seen>> seen_;
};

/// Whether SeenTiles::look serves.
[[nodiscard]] bool has_mask_of_numbers(const AttentionInputs& inputs);

struct TiledPlan : AttentionDims {
    const AttentionInputs& inputs;
    std::span<const double> slopes; ///< as AttentionInputs has them, where distances are not in the bias
    const AttentionOptions& options;
    const AttentionOutputs& outputs;
    const TileKernels& kernels;
    Index features;   ///< d_v in whole vectors
    float scale, cap; ///< cap is 0 without a softcap
    bool biased;      ///< see visibility.hpp
    bool rescored; ///< scores are brought to their final unit before the softmax, since something is added or they change sign
    bool far;      ///< see Tile::far
    bool pairs;    ///< queries and keys are multiplied as pairs of bfloat16
    bool value_pairs; ///< weights and values are, of two keys each
    double unit;      ///< that makes final scores of those that go into the softmax
    float factor;     ///< that makes powers of two of score differences
    const SeenTiles& seen;
};

/// Numbers of one cache line, so that a vector of them is aligned for any vector load.
struct alignas(64) CacheLine {
    std::array<float, cache_line> numbers;
};

/// The memory of one worker; used for one tile of queries after another.
class TileScratch {
public:
    explicit TileScratch(const TiledPlan& plan);

    Tile tile = {};
    Tile total = {};              ///< maximum, sum and O of the parts before
    float* packed = nullptr;      ///< (d_k, query_tile)
    float* K = nullptr;           ///< (key_tile, K_stride): keys that are not read in place
    float* V = nullptr;           ///< (key_tile, features)
    float* bias = nullptr;        ///< (query_tile, key_tile)
    float* begin = nullptr;       ///< (query_tile), first key seen, counted from a tile's first
    float* end = nullptr;         ///< (query_tile)
    float* position = nullptr;    ///< (query_tile), counted likewise
    float* information = nullptr; ///< (query_tile), see TileKernels::weights
    Index K_stride = 0;
    static constexpr std::size_t most_queries = 64; ///< of a tile, whatever the instruction set
    std::array<KeyRange, most_queries> ranges = {}; ///< of each query, or the first of all
    const std::byte* keys_seen = nullptr;           ///< by the queries before: their tiles are near now

private:
    /// Not filled: what is read before it is written never counts.
    std::unique_ptr<CacheLine[]> lines_; // NOLINT(modernize-avoid-c-arrays): as many as the sizes need
};

/// A tile of queries: [first, first + query_tile) of head h in batch entry b.
struct QueryPlace {
    Index b, h, first;
};

/// Computes all kept stages of the queries at `place`. Those at `next` are probably the next ones on this thread.
void attend_query_tile(const TiledPlan& plan, TileScratch& scratch, const QueryPlace& place, const QueryPlace& next);

/// The context of a tile in two steps: sums of each part of the keys, and of `parts` such sums, one after the other, the
/// context.
[[nodiscard]] Index size_of_sums(const TiledPlan& plan); ///< floats
void attend_part(const TiledPlan& plan, TileScratch& scratch, const QueryPlace& place, Index part, float* sums);
void finish_parts(const TiledPlan& plan, TileScratch& scratch, const QueryPlace& place, const float* sums);

} // namespace attn::core
