// What every tile of one tiled_attention shares, and one tile of queries on its way through the tiles of keys.
#pragma once

#include "attn/core/stages.hpp"
#include "attn/core/tiled.hpp"
#include "attn/core/tiles/kernels.hpp"

#include <array>
#include <memory>

namespace attn::core {

/// nullptr for what is portable or not available.
[[nodiscard]] const TileKernels* kernels_of(Isa isa);

struct TiledPlan : AttentionDims {
    const AttentionInputs& inputs;
    const AttentionOptions& options;
    const AttentionOutputs& outputs;
    const TileKernels& kernels;
    Index features;   ///< d_v in whole vectors
    float scale, cap; ///< cap is 0 without a softcap
    bool biased;      ///< see bias.hpp
    bool rescored; ///< scores are brought to their final unit before the softmax, since something is added or they change sign
    bool far;      ///< see Tile::far
    double unit;   ///< that makes final scores of those that go into the softmax
    float factor;  ///< that makes powers of two of score differences
};

[[nodiscard]] TiledPlan plan_tiles(const AttentionInputs& inputs, const AttentionOptions& options,
                                   const AttentionOutputs& outputs, ScoreRange range, const TileKernels& kernels);

/// Numbers of one cache line, so that a vector of them is aligned for any vector load.
struct alignas(64) CacheLine {
    std::array<float, cache_line> numbers;
};

/// The memory of one worker; used for one tile of queries after another.
class TileScratch {
public:
    explicit TileScratch(const TiledPlan& plan);

    Tile tile = {};
    float* packed = nullptr;      ///< (d_k, query_tile)
    float* K = nullptr;           ///< (key_tile, K_stride): keys that are not read in place
    float* V = nullptr;           ///< (key_tile, features)
    float* bias = nullptr;        ///< (query_tile, key_tile)
    float* begin = nullptr;       ///< (query_tile), first key seen, counted from a tile's first
    float* end = nullptr;         ///< (query_tile)
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

} // namespace attn::core
