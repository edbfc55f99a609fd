#include "attn/core/tiles/plan.hpp"
#include "attn/core/visibility.hpp"
#include "attn/math/elementary.hpp"
#include "attn/tensor/element.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace attn::core {
namespace {

/// Numbers of keys and values that stay in a core's own cache, the second level of today's.
constexpr Index most_near = 1 << 17;

Index whole(Index count, Index unit)
{
    return tiles_in(count, unit) * unit;
}

/// Two bfloat16 as one number, of which nothing but its bits is used.
TileRows as_pairs(const TileRows& rows)
{
    return {rows.data, rows.stride / 2, ElementType::float32};
}

/// Keys or values of one head: those of the cache, and on from `past_count` the others.
struct HeadRows {
    TileRows past, now;
    Index past_count;
    Index columns;

    [[nodiscard]] TileRows from(Index key) const
    {
        const TileRows& rows = key < past_count ? past : now;
        const Index row = key < past_count ? key : key - past_count;
        return {rows.data + row * rows.stride * size_of(rows.type), rows.stride, rows.type};
    }
};

HeadRows head_rows(const TensorView& now, const std::optional<TensorView>& past, Index b, Index g)
{
    const TileRows rows = rows_at(now, b, g, 0);
    return {past ? rows_at(*past, b, g, 0) : rows, rows, past ? past->shape[2] : 0, now.shape[3]};
}

TileTarget target(const StageSpan& stage, Index b, Index h, Index row, Index column)
{
    return {stage.at(b, h, row, column), stage.row, stage.type};
}

void store_number(const TileTarget& to, float value)
{
    to_bytes(to.type, std::span<const float>(&value, 1), to.data);
}

class QueryTile {
public:
    QueryTile(const TiledPlan& plan, TileScratch& scratch, const QueryPlace& place, const QueryPlace& next)
        : plan_(plan), kernels_(plan.kernels), scratch_(scratch), tile_(scratch.tile), next_(next), b_(place.b), h_(place.h),
          first_(place.first), rows_(std::min(plan.kernels.query_tile, plan.T - first_)), keys_(keys_of(place)),
          values_(values_of(place)),
          far_(scratch.keys_seen != keys_.now.data || plan.total() * (plan.d_k + plan.d_v) > most_near)
    {
        scratch.keys_seen = keys_.now.data;
        tile_.queries = rows_;
        find_ranges();
        const TileRows queries = rows_at(plan.inputs.queries, b_, h_, first_);
        kernels_.pack_queries(plan.pairs ? as_pairs(queries) : queries, rows_, keys_.columns, scratch.packed);
    }

    /// The context, and with it the maximum and the sum of every row; from the sums of all parts where they are there.
    void attend(const float* sums = nullptr)
    {
        bool any = false;
        clear();
        if (!plan_.inputs.sinks.empty()) { // each head's is one more key, whose value is zeros
            std::fill_n(tile_.maximum, kernels_.query_tile, sink_of_head());
            std::fill_n(tile_.sum, kernels_.query_tile, std::isinf(sink_of_head()) ? 0.0F : 1.0F);
            std::fill_n(tile_.O, kernels_.query_tile * plan_.features, 0.0F);
            swap_total();
            any = true;
            clear();
        }
        for (Index part = tile_start(least_) / part_keys; part * part_keys < most_; ++part) {
            sums == nullptr ? add_part(part) : load_sums(sums + part * size_of_sums(plan_));
            if (tile_.first) {
                continue;
            }
            any ? kernels_.merge(scratch_.total, tile_, plan_.factor) : swap_total();
            any = true;
            clear();
        }
        if (any) {
            swap_total();
        }
        for (Index i = 0; plan_.outputs[Stage::lse].data != nullptr && i < rows_; ++i) {
            store_number(target(plan_.outputs[Stage::lse], b_, h_, first_ + i, 0), log_sum_exp(i));
        }
        if (plan_.outputs[Stage::head_context].data != nullptr) {
            kernels_.finish(tile_, rows_, plan_.d_v, empty(), target(plan_.outputs[Stage::head_context], b_, h_, first_, 0));
        }
    }

    /// The sums of one part alone.
    void save_part(Index part, float* sums)
    {
        clear();
        add_part(part);
        sums = std::copy_n(tile_.maximum, kernels_.query_tile, sums);
        sums = std::copy_n(tile_.sum, kernels_.query_tile, sums);
        if (!tile_.first) {
            std::copy_n(tile_.O, rows_ * plan_.features, sums);
        }
    }

    /// The stages that need every score once more: all but the two that attend() keeps.
    void keep_stages()
    {
        const AttentionOutputs& out = plan_.outputs;
        const auto is_kept = [&](Stage stage) { return out[stage].data != nullptr; };
        const auto is_done = [](Stage stage) { return stage == Stage::lse || stage == Stage::head_context; };
        if (std::ranges::none_of(every_stage, [&](Stage stage) { return !is_done(stage) && is_kept(stage); })) {
            return;
        }
        const bool masked_too = std::ranges::any_of(
            std::array{Stage::scores, Stage::scaled_scores, Stage::capped_scores, Stage::masked_scores}, is_kept);
        std::fill_n(scratch_.information, kernels_.query_tile, 0.0F);
        const Index most = masked_too ? plan_.total() : most_; // weights of keys that nobody sees are 0 already
        for (Index key = masked_too ? 0 : tile_start(least_); key < most; key += tile_.keys) {
            start_tile(key, most);
            (void)load_bias(key);
            score(key);
            keep(out[Stage::scores], key, 1);
            keep(out[Stage::scaled_scores], key, plan_.scale);
            (void)rescore(key, plan_.biased, &out[Stage::capped_scores]);
            (void)mask(key);
            keep(out[Stage::masked_scores], key, plan_.rescored ? 1 : plan_.scale);
            kernels_.weights(tile_, plan_.factor, scratch_.information);
            keep(out[Stage::weights], key, 1);
        }
        for (Index i = 0; i < rows_; ++i) {
            keep_entropy(i);
            if (plan_.options.nan_for_empty_rows && tile_.sum[i] == 0) {
                fill_weights(i);
            }
        }
    }

private:
    [[nodiscard]] float empty() const { return plan_.options.nan_for_empty_rows ? std::numeric_limits<float>::quiet_NaN() : 0; }

    /// Of all keys that row i sees, and the sink.
    [[nodiscard]] float log_sum_exp(Index i) const
    {
        const auto maximum = static_cast<double>(tile_.maximum[i]);
        const auto sum = static_cast<double>(tile_.sum[i]);
        return sum == 0 ? -std::numeric_limits<float>::infinity() : static_cast<float>(maximum * plan_.unit + math::log(sum));
    }

    [[nodiscard]] float sink_of_head() const { return static_cast<float>(plan_.inputs.sinks[static_cast<std::size_t>(h_)]); }

    /// Nothing seen yet.
    void clear()
    {
        std::fill_n(tile_.maximum, kernels_.query_tile, -std::numeric_limits<float>::infinity());
        std::fill_n(tile_.sum, kernels_.query_tile, 0.0F);
        tile_.first = true;
    }

    void swap_total()
    {
        Tile& total = scratch_.total;
        std::swap(total.maximum, tile_.maximum);
        std::swap(total.sum, tile_.sum);
        std::swap(total.O, tile_.O);
        total.queries = tile_.queries;
    }

    /// The tiles that begin among the keys of a part.
    void add_part(Index part)
    {
        const Index end = std::min(most_, tile_from((part + 1) * part_keys));
        for (Index key = std::max(tile_start(least_), tile_from(part * part_keys)); key < end; key += tile_.keys) {
            start_tile(key, end);
            const Seen seen = seen_at(key);
            if (seen == Seen::none || (seen == Seen::some && !load_bias(key))) {
                continue;
            }
            score(key);
            const bool rescored = rescore(key, seen == Seen::some);
            const bool masked = mask(key);
            if (rescored || masked) {
                kernels_.find_maximum(tile_);
            }
            kernels_.powers(tile_, plan_.factor);
            add_values(key);
            tile_.first = false;
        }
    }

    /// What save_part left.
    void load_sums(const float* sums)
    {
        const Index width = kernels_.query_tile;
        std::copy_n(sums, width, tile_.maximum);
        std::copy_n(sums + width, width, tile_.sum);
        tile_.first = std::all_of(tile_.sum, tile_.sum + rows_, [](float sum) { return sum == 0; });
        if (!tile_.first) {
            std::copy_n(sums + 2 * width, rows_ * plan_.features, tile_.O);
        }
    }

    /// The keys that each row may see, and those that any may.
    void find_ranges()
    {
        least_ = plan_.total();
        most_ = 0;
        latest_begin_ = 0;
        earliest_end_ = plan_.total();
        alike_ = !plan_.options.causal && !plan_.options.window && !plan_.inputs.segments;
        for (Index i = 0; i < (alike_ ? 1 : rows_); ++i) {
            KeyRange& range = scratch_.ranges[static_cast<std::size_t>(i)];
            range = visible_keys(plan_.inputs, plan_.options, b_, first_ + i);
            latest_begin_ = std::max(latest_begin_, range.begin);
            earliest_end_ = std::min(earliest_end_, range.end);
            if (range.begin < range.end) {
                least_ = std::min(least_, range.begin);
                most_ = std::max(most_, range.end);
            }
        }
    }

    /// The start of the tile that holds `key`. Tiles lie at the same keys for all queries, so that what a query gets does not
    /// depend on which others are in its tile.
    [[nodiscard]] Index tile_start(Index key) const
    {
        const Index origin = key < plan_.P ? 0 : plan_.P;
        return key - (key - origin) % kernels_.key_tile;
    }

    /// The first tile that starts at `key` or later.
    [[nodiscard]] Index tile_from(Index key) const
    {
        const Index start = tile_start(key);
        const Index next = start + kernels_.key_tile;
        return start == key ? key : start < plan_.P ? std::min(next, plan_.P) : next;
    }

    /// A tile ends where the cache does, so that all its rows are of one tensor.
    [[nodiscard]] Index keys_from(Index key, Index most) const
    {
        return std::min(kernels_.key_tile, (key < plan_.P ? std::min(plan_.P, most) : most) - key);
    }
    void start_tile(Index key, Index most) { tile_.keys = keys_from(key, most); }

    [[nodiscard]] HeadRows keys_of(const QueryPlace& place) const
    {
        const AttentionInputs& in = plan_.inputs;
        const HeadRows rows = head_rows(in.keys, in.past_key, place.b, place.h / (plan_.H / plan_.H_kv));
        return plan_.pairs ? HeadRows{as_pairs(rows.past), as_pairs(rows.now), rows.past_count, rows.columns / 2} : rows;
    }
    [[nodiscard]] HeadRows values_of(const QueryPlace& place) const
    {
        const AttentionInputs& in = plan_.inputs;
        return head_rows(in.values, in.past_value, place.b, place.h / (plan_.H / plan_.H_kv));
    }

    /// From `key` on: in place when the kernels can read them there, otherwise copied.
    TileFloats readable(const HeadRows& head, Index key, float* copy, Index stride) const
    {
        const TileRows rows = head.from(key);
        const Index d = head.columns;
        // Rows far apart fall on the same few lines of the cache, and a last vector must not reach beyond the row.
        const bool vectors = copy != scratch_.V || d % kernels_.lanes == 0;
        if (rows.type == ElementType::float32 && rows.stride < 2 * d && vectors) {
            return {reinterpret_cast<const float*>(rows.data), rows.stride};
        }
        kernels_.copy_rows(rows, tile_.keys, d, copy, stride);
        return {copy, stride};
    }

    /// What to fetch during the tile at `key`: the next tile's keys and values unless they are near, and towards the end what
    /// finish and the next tile of queries will want.
    [[nodiscard]] Ahead ahead(Index key) const
    {
        const Index after = key + tile_.keys;
        if (after >= most_) {
            const std::byte* queries = rows_at(plan_.inputs.queries, next_.b, next_.h, next_.first).data;
            const StageSpan& context = plan_.outputs[Stage::head_context];
            return {queries, context.data != nullptr ? target(context, b_, h_, first_, 0).data : queries};
        }
        if (far_) {
            return {keys_.from(after).data, values_.from(after).data};
        }
        if (after + kernels_.key_tile < most_) {
            return {nullptr, nullptr};
        }
        const HeadRows next_keys = keys_of(next_);
        if (next_keys.now.data == keys_.now.data) {
            return {nullptr, nullptr};
        }
        return {next_keys.from(0).data, values_of(next_).from(0).data};
    }

    void score(Index key)
    {
        const TileFloats K = readable(keys_, key, scratch_.K, scratch_.K_stride);
        const auto scores = plan_.pairs ? kernels_.score_pairs : kernels_.scores;
        scores(tile_, scratch_.packed, K, keys_.columns, ahead(key));
    }

    void add_values(Index key)
    {
        if (plan_.value_pairs &&
            !kernels_.pair_values(values_.from(key), tile_.keys, values_.columns, scratch_.V, plan_.features)) {
            return kernels_.add_value_pairs(tile_, {scratch_.V, plan_.features});
        }
        if (plan_.options.weights_type) {
            kernels_.round_powers(tile_, *plan_.options.weights_type);
        }
        kernels_.add_values(tile_, readable(values_, key, scratch_.V, plan_.features));
    }

    [[nodiscard]] Seen seen_at(Index key) const
    {
        return plan_.biased ? plan_.seen.at(plan_.inputs, {b_, h_, first_, rows_, key, keys_from(key, plan_.total())})
                            : Seen::all;
    }

    /// Whether any key of the tile is seen.
    bool load_bias(Index key)
    {
        const BiasPlace place{b_, h_, first_, rows_, key, tile_.keys};
        return !plan_.biased || core::load_bias(plan_.inputs, plan_.options, place, scratch_.bias, kernels_.key_tile);
    }

    /// Caps, takes off distances and adds the bias, where there is any; whether it did.
    bool rescore(Index key, bool biased, const StageSpan* capped = nullptr)
    {
        const bool apart = !plan_.slopes.empty();
        const bool capping = plan_.rescored && (plan_.cap != 0 || !apart);
        if (capping) {
            kernels_.cap(tile_, plan_.scale, plan_.cap);
        }
        if (capped != nullptr) {
            keep(*capped, key, 1);
        }
        if (apart) {
            for (Index i = 0; i < kernels_.query_tile; ++i) {
                const Index position = position_of(plan_.inputs, b_, first_ + std::min(i, rows_ - 1));
                scratch_.position[i] = static_cast<float>(position - key);
            }
            const auto slope = static_cast<float>(slope_of(plan_.slopes, plan_.H, b_, h_));
            kernels_.take_off_distances(tile_, capping ? 1 : plan_.scale, slope, scratch_.position);
        }
        if (biased) {
            kernels_.add_bias(tile_, scratch_.bias, kernels_.key_tile);
        }
        return plan_.rescored || biased;
    }

    /// Masks what causality, window and lengths mask in this tile; whether there is any.
    bool mask(Index key)
    {
        if (latest_begin_ <= key && earliest_end_ >= key + tile_.keys) {
            return false;
        }
        for (Index i = 0; i < kernels_.query_tile; ++i) {
            const KeyRange range = scratch_.ranges[static_cast<std::size_t>(alike_ ? 0 : std::min(i, rows_ - 1))];
            scratch_.begin[i] = static_cast<float>(std::clamp<Index>(range.begin - key, 0, tile_.keys));
            scratch_.end[i] = static_cast<float>(std::clamp<Index>(range.end - key, 0, tile_.keys));
        }
        kernels_.mask(tile_, scratch_.begin, scratch_.end);
        return true;
    }

    void keep(const StageSpan& stage, Index key, float factor)
    {
        if (stage.data != nullptr) {
            kernels_.store_scores(tile_, rows_, factor, target(stage, b_, h_, first_, key));
        }
    }

    /// -Σ w·ln w of row i: with w = 2^t / sum this is ln(sum) · Σ w - ln 2 · Σ w·t; but for a sink Σ w is 1, and sum is never
    /// 0. With a sink the maximum is in units of the scores (plan_tiles), as the sink is.
    void keep_entropy(Index i)
    {
        if (plan_.outputs[Stage::entropy].data == nullptr) {
            return;
        }
        const auto sum = static_cast<double>(tile_.sum[i]);
        const double sunk =
            plan_.inputs.sinks.empty() ? 0 : math::exp(sink_of_head() - static_cast<double>(tile_.maximum[i])) / sum;
        const double entropy = math::log(sum) * (1 - sunk) - std::numbers::ln2 * static_cast<double>(scratch_.information[i]);
        const float kept = sum == 0 ? empty() : static_cast<float>(std::max(entropy, 0.0));
        store_number(target(plan_.outputs[Stage::entropy], b_, h_, first_ + i, 0), kept);
    }

    void fill_weights(Index i)
    {
        for (Index key = 0; plan_.outputs[Stage::weights].data != nullptr && key < plan_.total(); ++key) {
            store_number(target(plan_.outputs[Stage::weights], b_, h_, first_ + i, key), empty());
        }
    }

    const TiledPlan& plan_;
    const TileKernels& kernels_;
    TileScratch& scratch_;
    Tile& tile_;
    QueryPlace next_;
    Index b_, h_, first_, rows_;
    HeadRows keys_, values_;
    bool far_;                                  ///< keys and values are not in this core's cache yet, or too many for it
    bool alike_ = true;                         ///< every query sees the same keys
    Index least_ = 0, most_ = 0;                ///< keys that any row sees
    Index latest_begin_ = 0, earliest_end_ = 0; ///< keys between are seen by all
};

} // namespace

TileRows rows_at(const TensorView& view, Index b, Index h, Index row)
{
    const Index offset = b * view.strides[0] + h * view.strides[1] + row * view.strides[2];
    return {view.bytes.data() + offset * size_of(view.type), view.strides[2], view.type};
}

TileScratch::TileScratch(const TiledPlan& plan) : K_stride(whole(plan.d_k, plan.kernels.lanes))
{
    const TileKernels& k = plan.kernels;
    const std::array<std::pair<float**, Index>, 18> parts{{{&packed, plan.d_k * k.query_tile},
                                                           {&K, k.key_tile * K_stride},
                                                           {&V, k.key_tile * plan.features},
                                                           {&bias, plan.biased ? k.query_tile * k.key_tile : 0},
                                                           {&begin, k.query_tile},
                                                           {&end, k.query_tile},
                                                           {&position, k.query_tile},
                                                           {&information, k.query_tile},
                                                           {&tile.S, (k.key_tile + k.lanes) * k.query_tile},
                                                           {&tile.tile_maximum, k.query_tile},
                                                           {&tile.maximum, k.query_tile},
                                                           {&tile.sum, k.query_tile},
                                                           {&tile.rescale, k.query_tile},
                                                           {&tile.O, k.query_tile * plan.features},
                                                           {&total.maximum, k.query_tile},
                                                           {&total.sum, k.query_tile},
                                                           {&total.rescale, k.query_tile},
                                                           {&total.O, k.query_tile * plan.features}}};
    Index lines = 0;
    for (const auto& [part, count] : parts) {
        lines += whole(count, cache_line) / cache_line;
    }
    // NOLINTNEXTLINE(modernize-avoid-c-arrays)
    lines_ = std::make_unique_for_overwrite<CacheLine[]>(static_cast<std::size_t>(lines));
    auto* at = reinterpret_cast<float*>(lines_.get());
    for (const auto& [part, count] : parts) {
        *part = at;
        at += whole(count, cache_line);
    }
    tile.features = total.features = plan.features;
    tile.far = total.far = plan.far;
}

void attend_query_tile(const TiledPlan& plan, TileScratch& scratch, const QueryPlace& place, const QueryPlace& next)
{
    QueryTile tile(plan, scratch, place, next);
    tile.attend();
    tile.keep_stages();
}

Index size_of_sums(const TiledPlan& plan)
{
    return 2 * plan.kernels.query_tile + std::min(plan.T, plan.kernels.query_tile) * plan.features;
}

void attend_part(const TiledPlan& plan, TileScratch& scratch, const QueryPlace& place, Index part, float* sums)
{
    QueryTile(plan, scratch, place, place).save_part(part, sums);
}

void finish_parts(const TiledPlan& plan, TileScratch& scratch, const QueryPlace& place, const float* sums)
{
    QueryTile(plan, scratch, place, place).attend(sums);
}

} // namespace attn::core
