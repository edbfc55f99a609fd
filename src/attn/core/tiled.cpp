#include "attn/core/tiled.hpp"

#include "attn/core/parallel.hpp"
#include "attn/core/tiles/plan.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace attn::core {
namespace {

/// Floating-point operations that are done before a second thread has started.
constexpr double worth_a_thread = 1.5e7;

Index unit_count(const TiledPlan& plan)
{
    const Index tiles = (plan.T + plan.kernels.query_tile - 1) / plan.kernels.query_tile;
    return plan.B * plan.H * tiles;
}

/// As many as are worth it: four operations for each query, key and number of a head, or of what a window leaves.
int threads_for(const TiledPlan& plan, int threads)
{
    auto keys = static_cast<double>(plan.keys());
    if (plan.options.window && plan.options.window->left >= 0) {
        const Index right = plan.options.causal ? 0 : plan.options.window->right;
        const double seen = static_cast<double>(plan.options.window->left) + static_cast<double>(right) + 1;
        keys = right < 0 ? keys : std::min(keys, seen + static_cast<double>(plan.kernels.query_tile));
    }
    const double rows = static_cast<double>(plan.B * plan.H) * static_cast<double>(plan.T);
    const double operations = rows * keys * 2 * static_cast<double>(plan.d_k + plan.d_v);
    return static_cast<int>(std::clamp(operations / worth_a_thread, 1.0, static_cast<double>(threads)));
}

[[noreturn]] void refuse(const TiledInputs& in)
{
    const auto shape = [](const std::optional<TensorView>& view) { return view ? to_string(view->shape) : "none"; };
    throw Error(ErrorKind::internal, "tiled attention",
                "queries " + shape(in.queries) + ", keys " + shape(in.keys) + ", values " + shape(in.values) + ", cache " +
                    shape(in.past_key) + " and " + shape(in.past_value) + ", mask " + shape(in.mask),
                "(B, H, T, d_k), (B, H_kv, S, d_k), (B, H_kv, S, d_v), (B, H_kv, P, d_k), (B, H_kv, P, d_v), (B, H, T, up to "
                "P+S), readable in tiles");
}

void require_shapes(const TiledInputs& in)
{
    const Shape& q = in.queries.shape;
    const Shape& k = in.keys.shape;
    const Shape& v = in.values.shape;
    if (q.size() != 4 || k.size() != 4 || v.size() != 4 || in.past_key.has_value() != in.past_value.has_value()) {
        refuse(in);
    }
    const Index P = in.past_key && in.past_key->shape.size() == 4 ? in.past_key->shape[2] : 0;
    const bool cache = !in.past_key ||
                       (in.past_key->shape == Shape{k[0], k[1], P, k[3]} && in.past_value->shape == Shape{k[0], k[1], P, v[3]});
    const bool sizes =
        k[0] == q[0] && k[3] == q[3] && q[3] > 0 && k[1] > 0 && q[1] % k[1] == 0 && v == Shape{k[0], k[1], k[2], v[3]};
    const bool mask = !in.mask || (in.mask->shape.size() == 4 && in.mask->shape[0] == q[0] && in.mask->shape[1] == q[1] &&
                                   in.mask->shape[2] == q[2] && in.mask->shape[3] <= P + k[2]);
    const auto lists = [&](const std::vector<Index>& list, Index count) {
        return list.empty() || static_cast<Index>(list.size()) == count;
    };
    const bool readable = readable_in_tiles(in.queries) && readable_in_tiles(in.keys) && readable_in_tiles(in.values) &&
                          (!in.past_key || (readable_in_tiles(*in.past_key) && readable_in_tiles(*in.past_value)));
    if (!cache || !sizes || !mask || !readable || !lists(in.offsets, q[0]) || !lists(in.lengths, q[0]) ||
        !lists(in.query_positions, q[2])) {
        refuse(in);
    }
}

const TileKernels& require_kernels(Isa isa)
{
    const TileKernels* kernels = kernels_of(isa);
    if (kernels == nullptr) {
        throw Error(ErrorKind::internal, "tiled attention", std::string(name_of(isa)), "an instruction set of this machine");
    }
    return *kernels;
}

double scale_of(const TiledInputs& inputs, const AttentionOptions& options)
{
    return options.scale.value_or(1 / std::sqrt(static_cast<double>(inputs.queries.shape[3])));
}

/// The largest number that a mask adds, or NaN if one of them is.
double largest_bias(const TensorView& mask)
{
    TensorView once = mask; // broadcast dimensions say the same again
    for (std::size_t d = 0; d < once.shape.size(); ++d) {
        once.shape[d] = once.strides[d] == 0 ? std::min<Index>(once.shape[d], 1) : once.shape[d];
    }
    return largest(once);
}

TensorView as_batch(const Tensor<float>& heads)
{
    return core::as_batch(heads.shape, heads.values);
}

TiledInputs as_batch(const Heads<float>& heads, const AttentionOptions& options)
{
    TiledInputs inputs{as_batch(heads.queries), as_batch(heads.keys), as_batch(heads.values), {}, {}};
    if (heads.mask) {
        inputs.mask = *heads.mask;
        inputs.mask->shape.insert(inputs.mask->shape.begin(), 1);
        inputs.mask->strides.insert(inputs.mask->strides.begin(), 0);
    }
    if (options.valid_keys) {
        inputs.lengths = {*options.valid_keys};
    }
    inputs.query_positions = heads.query_positions;
    return inputs;
}

StageSpan span_of(Tensor<float>& stage)
{
    StageSpan span;
    if (!stage.values.empty()) {
        span.data = reinterpret_cast<std::byte*>(stage.values.data());
        span.row = stage.shape.size() < 3 ? 1 : stage.shape[2];
        span.head = stage.shape[1] * span.row;
    }
    return span;
}

} // namespace

TensorView as_batch(Shape shape, std::span<const float> values)
{
    shape.insert(shape.begin(), 1);
    return row_major_view(ElementType::float32, std::move(shape), std::as_bytes(values));
}

bool readable_in_tiles(const TensorView& view)
{
    const bool type =
        view.type == ElementType::float32 || view.type == ElementType::float16 || view.type == ElementType::bfloat16;
    const auto address = reinterpret_cast<std::uintptr_t>(view.bytes.data());
    return type && !view.swapped && address % static_cast<std::uintptr_t>(size_of(view.type)) == 0 &&
           (view.shape.back() <= 1 || view.strides.back() == 1 || view.count() == 0);
}

std::string_view beyond_tiles(const AttentionOptions& options)
{
    const bool rounded = options.softmax_type.value_or(ElementType::float32) != ElementType::float32;
    return rounded                              ? "a softmax in another type than float32"
           : !options.slopes.empty()            ? "ALiBi"
           : options.rounding == Rounding::step ? "--rounding step"
                                                : "";
}

Reach reach_of(const TiledInputs& inputs, const AttentionOptions& options)
{
    constexpr double limit = std::numeric_limits<float>::max() / 8; // differences and sums of a few stay below the maximum
    constexpr double nearest = 1 << 20;                             // an exponent's product is rounded by 1/32 at most
    const auto small = [](double value) { return value < limit; };  // false for NaN
    const double q = largest_magnitude(inputs.queries);
    const double k = largest_magnitude(inputs.keys);
    const double v = largest_magnitude(inputs.values);
    const double past_k = inputs.past_key ? largest_magnitude(*inputs.past_key) : 0;
    const double past_v = inputs.past_value ? largest_magnitude(*inputs.past_value) : 0;
    const double scale = std::abs(scale_of(inputs, options));
    const double score = static_cast<double>(inputs.queries.shape[3]) * q * (k + past_k);
    const auto keys = static_cast<double>(inputs.keys.shape[2] + (inputs.past_key ? inputs.past_key->shape[2] : 0));
    const double cap = options.softcap.value_or(1);
    const bool capped = cap >= std::numeric_limits<float>::min() && cap < limit;
    const bool biased = !inputs.mask || inputs.mask->type == ElementType::boolean || small(largest_bias(*inputs.mask));
    const bool finite = small(q) && small(k + past_k) && small(score) && small(scale) && small(score * scale) &&
                        small((v + past_v) * (keys + 1)) && capped && biased;
    if (!finite) {
        return Reach::beyond;
    }
    return score * scale * std::numbers::log2e < nearest ? Reach::near : Reach::far;
}

TiledPlan plan_tiles(const TiledInputs& inputs, const AttentionOptions& options, const TiledOutputs& outputs,
                     const TileKernels& kernels)
{
    const Shape& q = inputs.queries.shape;
    const Shape& k = inputs.keys.shape;
    const Index d_v = inputs.values.shape[3];
    const auto scale = static_cast<float>(scale_of(inputs, options));
    const bool added = inputs.mask && inputs.mask->type != ElementType::boolean;
    const bool rescored = options.softcap || added || !(scale > 0);
    return {.inputs = inputs,
            .options = options,
            .outputs = outputs,
            .kernels = kernels,
            .B = q[0],
            .H = q[1],
            .H_kv = k[1],
            .T = q[2],
            .P = inputs.past_key ? inputs.past_key->shape[2] : 0,
            .S = k[2],
            .d_k = q[3],
            .d_v = d_v,
            .features = (d_v + kernels.lanes - 1) / kernels.lanes * kernels.lanes,
            .scale = scale,
            .cap = static_cast<float>(options.softcap.value_or(0)),
            .rescored = rescored,
            .far = rescored || inputs.reach != Reach::near,
            .factor = static_cast<float>(std::numbers::log2e * (rescored ? 1 : scale_of(inputs, options)))};
}

void tiled_attention(const TiledInputs& inputs, const AttentionOptions& options, const TiledOutputs& outputs, const Work& work,
                     Isa isa)
{
    require_shapes(inputs);
    const TiledPlan plan = plan_tiles(inputs, options, outputs, require_kernels(isa));
    Work part = work;
    part.threads = threads_for(plan, work.threads);
    const Index count = unit_count(plan);
    const Index tiles = count / std::max<Index>(plan.B * plan.H, 1);
    std::vector<TileScratch> scratches;
    for (int i = 0; i < std::min<Index>(part.threads, count); ++i) {
        scratches.emplace_back(plan);
    }
    const auto place = [&](Index unit) {
        const Index head = unit / tiles;
        const Index tile = tiles - 1 - unit % tiles; // the last queries see the most keys, so that the rest fits in between
        return QueryPlace{head / plan.H, head % plan.H, tile * plan.kernels.query_tile};
    };
    for_each_block(count, part, [&](Index unit, int worker) {
        attend_query_tile(plan, scratches[static_cast<std::size_t>(worker)], place(unit), place(std::min(unit + 1, count - 1)));
    });
}

Stages<float> attention(const Heads<float>& heads, const AttentionOptions& options, const Keep& keep, const Work& work, Isa isa)
{
    const auto portable = [&](std::string_view because) {
        Stages<float> stages = attention(heads, options, keep, work);
        stages.portable_because = because;
        return stages;
    };
    if (isa == Isa::portable) {
        return portable({});
    }
    if (const std::string_view because = beyond_tiles(options); !because.empty()) {
        return portable(because);
    }
    TiledInputs inputs = as_batch(heads, options);
    inputs.reach = reach_of(inputs, options);
    if (inputs.reach == Reach::beyond) {
        return portable(numbers_beyond);
    }
    Stages<float> stages = make_stages(heads, options, keep);
    const TiledOutputs outputs{span_of(stages.head_context),  span_of(stages.scores),        span_of(stages.scaled_scores),
                               span_of(stages.capped_scores), span_of(stages.masked_scores), span_of(stages.weights),
                               span_of(stages.entropy)};
    tiled_attention(inputs, options, outputs, work, isa);
    return stages;
}

} // namespace attn::core
