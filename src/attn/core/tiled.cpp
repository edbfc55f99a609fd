#include "attn/core/tiled.hpp"

#include "attn/core/parallel.hpp"
#include "attn/core/tiles/plan.hpp"
#include "attn/core/visibility.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>

namespace attn::core {
namespace {

/// Floating-point operations that are done before a second thread has started.
constexpr double operations_worth_a_thread = 4e6;

Index unit_count(const TiledPlan& plan)
{
    const Index tiles = (plan.T + plan.kernels.query_tile - 1) / plan.kernels.query_tile;
    return plan.B * plan.H * tiles;
}

/// As many as are worth it: four operations for each query, key and number of a head, or of what a window leaves.
int threads_for(const TiledPlan& plan, int threads)
{
    auto keys = static_cast<double>(plan.total());
    if (plan.options.window && plan.options.window->left >= 0) {
        const Index right = plan.options.causal ? 0 : plan.options.window->right;
        const double seen = static_cast<double>(plan.options.window->left) + static_cast<double>(right) + 1;
        keys = right < 0 ? keys : std::min(keys, seen + static_cast<double>(plan.kernels.query_tile));
    }
    const double rows = static_cast<double>(plan.B * plan.H) * static_cast<double>(plan.T);
    const double operations = rows * keys * 2 * static_cast<double>(plan.d_k + plan.d_v);
    return static_cast<int>(std::clamp(operations / operations_worth_a_thread, 1.0, static_cast<double>(threads)));
}

const TileKernels& require_kernels(Isa isa)
{
    const TileKernels* kernels = kernels_of(isa);
    if (kernels == nullptr) {
        throw Error(ErrorKind::internal, "tiled attention", std::string(name_of(isa)), "an instruction set of this machine");
    }
    return *kernels;
}

double scale_of(const AttentionInputs& inputs, const AttentionOptions& options)
{
    return options.factor().value_or(1 / std::sqrt(static_cast<double>(inputs.queries.shape[3])));
}

/// Of each view, read on several threads, the largest magnitude, or the largest number above 0; NaN if one is.
std::vector<double> largest_numbers(std::span<const TensorView* const> views, bool above_zero, const Work& work)
{
    constexpr Index numbers_at_once = 1 << 15;
    constexpr Index numbers_worth_a_thread = 1 << 17;
    struct Piece {
        std::size_t of;
        TileRows from;
        Index rows;
    };
    const TileKernels* kernels = kernels_of(work.isa);
    std::vector<double> most(views.size());
    std::vector<Piece> pieces;
    Index numbers = 0;
    for (std::size_t i = 0; i < views.size(); ++i) {
        const TensorView& view = *views[i];
        if (kernels == nullptr || !readable_in_tiles(view)) {
            most[i] = above_zero ? largest(view) : largest_magnitude(view);
            continue;
        }
        numbers += view.count();
        const Index rows = std::max<Index>(numbers_at_once / std::max<Index>(view.shape[3], 1), 1);
        for (Index head = 0; head < view.shape[0] * view.shape[1]; ++head) {
            for (Index row = 0; row < view.shape[2]; row += rows) {
                pieces.push_back(
                    {i, rows_at(view, head / view.shape[1], head % view.shape[1], row), std::min(rows, view.shape[2] - row)});
            }
        }
    }
    std::vector<float> found(pieces.size());
    for_each_block(std::ssize(pieces), {.threads = numbers < numbers_worth_a_thread ? 1 : work.threads}, [&](Index block) {
        const auto& [of, from, rows] = pieces[static_cast<std::size_t>(block)];
        found[static_cast<std::size_t>(block)] = kernels->largest(from, rows, views[of]->shape[3], above_zero);
    });
    for (std::size_t block = 0; block < pieces.size(); ++block) {
        double& so_far = most[pieces[block].of];
        const auto next = static_cast<double>(found[block]);
        so_far = next <= so_far || std::isnan(so_far) ? so_far : next; // takes NaN, and keeps it
    }
    return most;
}

/// The largest number that a mask adds, or NaN if one of them is.
double largest_bias(const TensorView& mask, const Work& work)
{
    TensorView once = mask; // broadcast dimensions say the same again
    for (std::size_t d = 0; d < once.shape.size(); ++d) {
        once.shape[d] = once.strides[d] == 0 ? std::min<Index>(once.shape[d], 1) : once.shape[d];
    }
    return largest_numbers(std::array<const TensorView*, 1>{&once}, true, work)[0];
}

/// The most that a distance adds to a score or takes off it.
double largest_taken_off(const AttentionInputs& inputs)
{
    double slope = 0, place = static_cast<double>(inputs.queries.shape[2]);
    for (const double each : inputs.slopes) {
        slope = std::max(slope, std::abs(each));
    }
    for (const Index each : inputs.query_positions) {
        place = std::max(place, static_cast<double>(each));
    }
    double offset = 0;
    for (const Index each : inputs.offsets) {
        offset = std::max(offset, std::abs(static_cast<double>(each)));
    }
    return slope * (place + offset + static_cast<double>(inputs.dims().total()));
}

/// Heads [first, first + count) of batch entry b, (1, count, rows, d).
TensorView heads_of(const TensorView& view, Index b, Index first, Index count)
{
    TensorView heads = slice(view, std::array{b});
    heads.bytes = heads.bytes.subspan(static_cast<std::size_t>(count == 0 ? 0 : first * heads.strides[0] * size_of(view.type)));
    heads.shape[0] = count;
    return as_batch(std::move(heads));
}

/// What query heads of key/value head g in batch entry b read, converted where tiles cannot read it.
class GroupInputs {
public:
    GroupInputs(const AttentionInputs& all, Index b, Index g) : inputs_(all)
    {
        const Index size = all.queries.shape[1] / all.keys.shape[1];
        inputs_.queries = readable(heads_of(all.queries, b, g * size, size), queries_);
        inputs_.keys = readable(heads_of(all.keys, b, g, 1), keys_);
        inputs_.values = readable(heads_of(all.values, b, g, 1), values_);
        if (all.past_key) {
            inputs_.past_key = readable(heads_of(*all.past_key, b, g, 1), past_key_);
            inputs_.past_value = readable(heads_of(*all.past_value, b, g, 1), past_value_);
        }
        if (all.mask) {
            inputs_.mask = heads_of(*all.mask, b, g * size, size);
        }
        for (std::vector<Index>* each : {&inputs_.offsets, &inputs_.lengths}) {
            if (!each->empty()) {
                *each = {(*each)[static_cast<std::size_t>(b)]};
            }
        }
        for (std::vector<double>* each : {&inputs_.slopes, &inputs_.sinks}) {
            if (!each->empty()) {
                const Index H = all.queries.shape[1];
                const auto first = each->begin() + (std::ssize(*each) > H ? b * H : 0) + g * size;
                *each = {first, first + size};
            }
        }
        if (all.segments) {
            const auto first = all.segments->of_key.begin() + b * all.dims().total();
            inputs_.segments->of_key = {first, first + all.dims().total()};
        }
    }

    [[nodiscard]] const AttentionInputs& inputs() const { return inputs_; }

private:
    /// A view that tiles can read, of the same numbers; `copy` holds them where they had to be converted.
    static TensorView readable(TensorView view, Tensor<float>& copy)
    {
        if (readable_in_tiles(view)) {
            return view;
        }
        copy = load<float>(view);
        return row_major_view(ElementType::float32, copy.shape, std::as_bytes(std::span(copy.values)));
    }

    Tensor<float> queries_, keys_, values_, past_key_, past_value_;
    AttentionInputs inputs_;
};

/// The part of the outputs that belongs to batch entry b and to heads from `first` on.
AttentionOutputs outputs_from(AttentionOutputs outputs, Index b, Index first)
{
    for (StageSpan& stage : outputs.of) {
        stage.data = stage.data == nullptr ? nullptr : stage.at(b, first, 0);
    }
    return outputs;
}

struct Folded {
    AttentionInputs inputs;
    AttentionOutputs outputs;
};

/// The query heads that read one key/value head as further queries of one head, so that its keys and values are read once for
/// all. Nothing where a tile has no room for them, where heads differ in more than their queries, or where rows do not lie
/// evenly.
std::optional<Folded> fold_heads(const AttentionInputs& inputs, const AttentionOutputs& outputs, Index query_tile)
{
    const AttentionDims d = inputs.dims();
    const Index group = d.H / d.H_kv;
    const auto even = [&](Index head, Index row) { return d.T == 1 || head == d.T * row; };
    const Shape& strides = inputs.queries.strides;
    const bool differ =
        !inputs.slopes.empty() || !inputs.sinks.empty() || inputs.segments || (inputs.mask && inputs.mask->strides[1] != 0);
    if (group == 1 || d.T == 0 || d.T >= query_tile || differ || !even(strides[1], strides[2])) {
        return std::nullopt;
    }
    Folded folded{inputs, outputs};
    TensorView& queries = folded.inputs.queries;
    queries.shape = {d.B, d.H_kv, group * d.T, d.d_k};
    queries.strides = {strides[0], group * strides[1], d.T == 1 ? strides[1] : strides[2], strides[3]};
    std::vector<Index> places = inputs.query_positions;
    if (places.empty()) {
        places.resize(static_cast<std::size_t>(d.T));
        std::iota(places.begin(), places.end(), Index{0});
    }
    folded.inputs.query_positions.clear();
    for (Index head = 0; head < group; ++head) {
        folded.inputs.query_positions.insert(folded.inputs.query_positions.end(), places.begin(), places.end());
    }
    for (StageSpan& stage : folded.outputs.of) {
        if (stage.data != nullptr && !even(stage.head, stage.row)) {
            return std::nullopt;
        }
        stage.row = d.T == 1 ? stage.head : stage.row;
        stage.head *= group;
    }
    return folded;
}

/// Whether few tiles of queries have many keys, and nothing but the context is wanted: threads share the keys then.
bool share_keys(const TiledPlan& plan, int threads)
{
    AttentionOutputs others = plan.outputs;
    others[Stage::head_context] = {};
    const auto is_kept = [](const StageSpan& stage) { return stage.data != nullptr; };
    return threads > 1 && unit_count(plan) < Index{4} * threads && plan.total() > part_keys &&
           std::ranges::none_of(others.of, is_kept);
}

/// Whether the last dimension of queries and keys is of pairs of bfloat16.
bool in_pairs(const AttentionInputs& inputs)
{
    const auto pairs = [](const TensorView& view) {
        return view.type == ElementType::bfloat16 && view.shape[3] % 2 == 0 && view.strides[2] % 2 == 0;
    };
    return pairs(inputs.queries) && pairs(inputs.keys) && (!inputs.past_key || pairs(*inputs.past_key));
}

/// Whether values can be multiplied as pairs of bfloat16, those of two keys together.
bool has_value_pairs(const AttentionInputs& inputs)
{
    const auto fits = [](const TensorView& view) { return view.type == ElementType::bfloat16; };
    return fits(inputs.values) && (!inputs.past_value || fits(*inputs.past_value));
}

/// What tiles are made of.
struct TiledCall {
    const AttentionInputs& inputs;
    const AttentionOptions& options;
    const AttentionOutputs& outputs;
};

/// `slopes` are not in the bias.
TiledPlan plan_tiles(const TiledCall& call, std::span<const double> slopes, ScoreRange range, const TileKernels& kernels,
                     const SeenTiles& seen)
{
    const auto& [inputs, options, outputs] = call;
    const AttentionDims dims = inputs.dims();
    const auto scale = static_cast<float>(scale_of(inputs, options));
    const bool numbers = has_numbers(inputs, options) || !slopes.empty();
    const bool rescored = options.softcap || numbers || !inputs.sinks.empty() || !(scale > 0);
    const double unit = rescored ? 1 : scale_of(inputs, options);
    return {dims,
            inputs,
            slopes,
            options,
            outputs,
            kernels,
            (dims.d_v + kernels.lanes - 1) / kernels.lanes * kernels.lanes,
            scale,
            static_cast<float>(options.softcap.value_or(0)),
            has_bias(inputs, options),
            rescored,
            rescored || range != ScoreRange::near,
            kernels.score_pairs != nullptr && range == ScoreRange::near && in_pairs(inputs),
            kernels.pair_values != nullptr && options.weights_type == ElementType::bfloat16 && has_value_pairs(inputs),
            unit,
            static_cast<float>(std::numbers::log2e * unit),
            seen};
}

void attend_planned(const TiledPlan& plan, const Work& work)
{
    Work part = work;
    part.threads = threads_for(plan, work.threads);
    const Index count = unit_count(plan);
    const Index parts = share_keys(plan, part.threads) ? (plan.total() + part_keys - 1) / part_keys : 1;
    const Index tiles = count / std::max<Index>(plan.B * plan.H, 1);
    std::vector<TileScratch> scratches;
    for (int i = 0; i < std::min<Index>(part.threads, count * parts); ++i) {
        scratches.emplace_back(plan);
    }
    const auto place = [&](Index unit) {
        const Index head = unit / tiles;
        const Index tile = tiles - 1 - unit % tiles; // the last queries see the most keys, so that the rest fits in between
        return QueryPlace{head / plan.H, head % plan.H, tile * plan.kernels.query_tile};
    };
    if (parts > 1) {
        const Index size = size_of_sums(plan);
        // NOLINTNEXTLINE(modernize-avoid-c-arrays): not filled
        const auto sums = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count * parts * size));
        for_each_block(count * parts, part, [&](Index block, int worker) {
            TileScratch& scratch = scratches[static_cast<std::size_t>(worker)];
            attend_part(plan, scratch, place(block / parts), block % parts, sums.get() + block * size);
        });
        for (Index unit = 0; unit < count; ++unit) {
            finish_parts(plan, scratches[0], place(unit), sums.get() + unit * parts * size);
        }
        return;
    }
    for_each_block(count, part, [&](Index unit, int worker) {
        attend_query_tile(plan, scratches[static_cast<std::size_t>(worker)], place(unit), place(std::min(unit + 1, count - 1)));
    });
}

void attend_tiles(const TiledCall& call, const Look& look, const Work& work)
{
    const TileKernels& kernels = require_kernels(work.isa);
    if (!call.inputs.slopes.empty() && !call.inputs.extra_key) { // distances go without a bias in memory then
        AttentionInputs rest = call.inputs;
        rest.slopes.clear();
        const SeenTiles seen(rest, kernels);
        const TiledCall others{rest, call.options, call.outputs};
        return attend_planned(plan_tiles(others, call.inputs.slopes, look.range, kernels, look.seen ? *look.seen : seen), work);
    }
    const SeenTiles seen(call.inputs, kernels);
    attend_planned(plan_tiles(call, {}, look.range, kernels, look.seen ? *look.seen : seen), work);
}

} // namespace

bool readable_in_tiles(const TensorView& view)
{
    const bool type =
        view.type == ElementType::float32 || view.type == ElementType::float16 || view.type == ElementType::bfloat16;
    const auto address = reinterpret_cast<std::uintptr_t>(view.bytes.data());
    return type && !view.swapped && address % static_cast<std::uintptr_t>(size_of(view.type)) == 0 &&
           (view.shape.back() <= 1 || view.strides.back() == 1 || view.count() == 0);
}

bool readable_in_tiles(const AttentionInputs& inputs)
{
    return readable_in_tiles(inputs.queries) && readable_in_tiles(inputs.keys) && readable_in_tiles(inputs.values) &&
           (!inputs.past_key || (readable_in_tiles(*inputs.past_key) && readable_in_tiles(*inputs.past_value)));
}

Look look_at(const AttentionInputs& inputs, const AttentionOptions& options, const Work& work)
{
    constexpr double limit = std::numeric_limits<float>::max() / 8; // differences and sums of a few stay below the maximum
    constexpr double nearest = 1 << 20;                             // an exponent's product is rounded by 1/32 at most
    constexpr double most_times_denormal = 0x1p80;                  // an exponent changes by 2^-46 if denormals count as 0
    const auto small = [](double value) { return value < limit; };  // false for NaN
    const AttentionDims dims = inputs.dims();
    const TensorView none{ElementType::float32, {0, 0, 0, 0}, {0, 0, 0, 0}, false, {}};
    const TensorView* const past_key = inputs.past_key ? &*inputs.past_key : &none;
    const TensorView* const past_value = inputs.past_value ? &*inputs.past_value : &none;
    const std::array views{&inputs.queries, &inputs.keys, &inputs.values, past_key, past_value};
    const std::vector<double> largest = largest_numbers(views, false, work);
    const double q = largest[0], k = largest[1], v = largest[2], past_k = largest[3], past_v = largest[4];
    const double scale = std::abs(scale_of(inputs, options));
    const double score = static_cast<double>(dims.d_k) * q * (k + past_k);
    const auto keys = static_cast<double>(dims.total());
    const double cap = options.softcap.value_or(1);
    const bool capped = cap >= std::numeric_limits<float>::min() && cap < limit;
    std::shared_ptr<SeenTiles> seen;
    const TileKernels* const kernels = kernels_of(work.isa);
    const auto largest_of_mask = [&]() -> double {
        if (kernels != nullptr && has_mask_of_numbers(inputs) && inputs.mask->count() != 0) {
            seen = std::make_shared<SeenTiles>(inputs, *kernels);
            return static_cast<double>(seen->look(inputs, *kernels, work));
        }
        return largest_bias(*inputs.mask, work);
    };
    const bool biased = !inputs.mask || inputs.mask->type == ElementType::boolean || small(largest_of_mask());
    const bool sunk = std::ranges::all_of(inputs.sinks, [&](double sink) { return small(std::abs(sink)) || sink < 0; });
    const bool finite = sunk && small(q) && small(k + past_k) && small(score) && small(scale) && small(score * scale) &&
                        small((v + past_v) * (keys + 1)) && small(largest_taken_off(inputs)) && capped && biased;
    if (!finite) {
        return {};
    }
    const double of_denormal = static_cast<double>(dims.d_k) * scale * std::max({q, k + past_k, 1.0});
    const bool near = score * scale * std::numbers::log2e < nearest && of_denormal < most_times_denormal;
    return {near ? ScoreRange::near : ScoreRange::far, std::move(seen)};
}

void tiled_attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                     const Look& look, const Work& work)
{
    const TileKernels& kernels = require_kernels(work.isa);
    if (const std::optional<Folded> folded = fold_heads(inputs, outputs, kernels.query_tile)) {
        return tiled_attention(folded->inputs, options, folded->outputs, {look.range}, work);
    }
    if (readable_in_tiles(inputs)) {
        return attend_tiles({inputs, options, outputs}, look, work);
    }
    const AttentionDims dims = inputs.dims();
    const Index groups = dims.B * dims.H_kv;
    for (Index unit = 0; unit < groups; ++unit) {
        const Index b = unit / dims.H_kv;
        const Index g = unit % dims.H_kv;
        const GroupInputs group(inputs, b, g);
        const AttentionOutputs part = outputs_from(outputs, b, g * (dims.H / dims.H_kv));
        attend_tiles({group.inputs(), options, part}, {look.range}, work.piece(unit, groups));
    }
}

} // namespace attn::core
