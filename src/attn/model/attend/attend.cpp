#include "attn/model/attend/attend.hpp"

#include "attn/core/tiled.hpp"
#include "attn/model/attend/attend_layout.hpp"
#include "attn/model/attend/attend_operands.hpp"
#include "attn/model/attend/packed.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::model {
namespace {

/// Where the numbers of one stage go; nullptr when it was not asked for.
StoredTensor* find(std::vector<StoredTensor>& tensors, Item stage)
{
    const auto found = std::ranges::find(tensors, name_of(stage), &StoredTensor::name);
    return found == tensors.end() ? nullptr : &*found;
}

core::AttentionOutputs outputs_of(const AttendViews& views, std::vector<StoredTensor>& tensors)
{
    const core::AttentionDims& l = views.sizes;
    core::AttentionOutputs outputs;
    for (const core::Stage stage : core::every_stage) {
        // The contexts of the heads lie side by side here.
        if (StoredTensor* tensor = find(tensors, stage == core::Stage::head_context ? Item::context : item_of(stage))) {
            const Index columns = core::columns_of(stage, l);
            outputs[stage] = {tensor->type, tensor->bytes.data(), l.H * l.T * columns, l.T * columns, columns};
        }
    }
    if (views.side_by_side) {
        outputs[core::Stage::head_context].head = l.d_v;
        outputs[core::Stage::head_context].row = l.H * l.d_v;
    }
    return outputs;
}

/// Cached rows, then new ones, of every key/value head; with TensorLayout::bshd the rows of all heads together.
template <typename Scalar>
void save_cache(const AttendViews& views, TensorLayout layout, std::vector<StoredTensor>& tensors)
{
    const core::AttentionDims& l = views.sizes;
    const auto save = [&](Item stage, const std::optional<TensorView>& past, const TensorView& now) {
        StoredTensor* tensor = find(tensors, stage);
        Index done = 0;
        const auto append = [&](const TensorView& view, Index b, Index g) {
            const Tensor<Scalar> rows = layout == TensorLayout::bshd ? load<Scalar>(swap_heads(slice(view, std::array{b})))
                                                                     : load<Scalar>(slice(view, std::array{b, g}));
            store(*tensor, done, std::span<const Scalar>(rows.values));
            done += std::ssize(rows.values);
        };
        const Index together = layout == TensorLayout::bshd ? l.H_kv : 1;
        for (Index unit = 0; tensor != nullptr && unit < l.B * l.H_kv; unit += together) {
            if (past) {
                append(*past, unit / l.H_kv, unit % l.H_kv);
            }
            append(now, unit / l.H_kv, unit % l.H_kv);
        }
    };
    save(Item::present_key, views.past_key, views.keys);
    save(Item::present_value, views.past_value, views.values);
}

Shape shape_of(Item stage, const AttendViews& views, TensorLayout layout)
{
    const core::AttentionDims& l = views.sizes;
    const auto cached = [&](Index columns) {
        const Shape shape = stage_shape(views, l.H_kv, l.total(), columns);
        return layout == TensorLayout::bshd ? swapped_heads(shape) : shape;
    };
    switch (stage) {
    case Item::context: return context_shape(views);
    case Item::present_key: return cached(l.d_k);
    case Item::present_value: return cached(l.d_v);
    default: {
        const core::Stage of = stage_of(stage).value();
        Shape shape = stage_shape(views, l.H, l.T, core::columns_of(of, l));
        if (core::is_single(of)) {
            shape.pop_back();
        }
        return shape;
    }
    }
}

constexpr const char* memory_asked = "memory for the stages asked for";

/// And of what is known of every key.
Index result_bytes(const AttendInputs& inputs, const AttendViews& views, const Attend& options)
{
    constexpr Index per_key = sizeof(std::int32_t) + sizeof(std::int64_t) + sizeof(core::KeyRange);
    const core::AttentionDims& l = views.sizes;
    Index bytes = inputs.segments ? checked_product(element_count({l.B, l.total()}), per_key, memory_asked) : 0;
    for (const Item stage : options.show) {
        const Index count = element_count(shape_of(stage, views, options.layout));
        const Index size = size_of(type_of(stage, inputs, options));
        bytes = checked_sum(bytes, checked_product(count, size, memory_asked), memory_asked);
    }
    return bytes;
}

/// Bytes of the results, and of the key/value head that is converted where it cannot be read in place.
Index required_in_tiles(const AttendInputs& inputs, const AttendViews& views, const Attend& options, int threads)
{
    constexpr Index row = 256; // floats that a thread keeps for each of d_k and d_v: two tiles of at most 96 rows, and padding
    const core::AttentionDims& l = views.sizes;
    const Index at_once = std::min<Index>(threads, l.B * l.H * l.T);
    const Index scratch = checked_product(checked_sum(l.d_k, l.d_v, memory_asked), row * at_once, memory_asked);
    const Index converted =
        core::readable_in_tiles(views)
            ? 0
            : checked_sum(element_count({l.H / l.H_kv, l.T, l.d_k}), element_count({l.total(), l.d_k + l.d_v}), memory_asked);
    return checked_sum(result_bytes(inputs, views, options),
                       checked_product(checked_sum(scratch, converted, memory_asked), sizeof(float), memory_asked),
                       memory_asked);
}

/// Bytes of the results, and of the key/value head that each thread works on.
Index required_bytes(const AttendInputs& inputs, const AttendViews& views, const Attend& options, int threads)
{
    const core::AttentionDims& l = views.sizes;
    const Index heads = element_count({std::min<Index>(threads, l.B * l.H_kv), l.total(), 2, l.d_k + l.d_v});
    return checked_sum(result_bytes(inputs, views, options), checked_product(heads, sizeof(double), memory_asked),
                       memory_asked);
}

void require_finite_inputs(const AttendInputs& inputs)
{
    using namespace operand;
    for (const AttendOperand* operand : {&queries, &keys, &values, &past_key, &past_value, &mask}) {
        if (const TensorView* view = operand->in(inputs)) {
            require_finite(*view, operand->name, operand == &mask);
        }
    }
}

/// Room for the stages asked for.
std::vector<StoredTensor> make_tensors(const AttendInputs& inputs, const AttendViews& views, const Attend& options)
{
    std::vector<StoredTensor> tensors;
    for (const Item stage : options.show) {
        tensors.emplace_back(std::string(name_of(stage)), type_of(stage, inputs, options),
                             shape_of(stage, views, options.layout));
    }
    return tensors;
}

void require_memory(Index required, Index limit)
{
    if (required > limit) {
        throw Error(ErrorKind::too_large, fmt::format("the stages asked for need {} bytes and {} are free; "
                                                      "ask for fewer with --show, or attend to part of the queries",
                                                      required, limit));
    }
}

} // namespace

Show attend_items(const AttendHas& has)
{
    return existing_items({.command = ShownBy::attend,
                           .needs = {{Needs::softcap, has.softcap}, {Needs::mask, has.masked}, {Needs::cache, has.cache}},
                           .packed = has.packed});
}

ElementType type_of(Item stage, const AttendInputs& inputs, const Attend& options)
{
    const ElementType type =
        info_of(stage).needs == Needs::cache ? inputs.keys.type : options.out_type.value_or(inputs.queries.type);
    return stage == Item::lse && is_half(type) ? ElementType::float32 : type;
}

AttendResult attend(const AttendInputs& inputs, const Attend& options, const RunSettings& settings)
{
    AttendViews views = lay_out(inputs, options);
    const bool masked = inputs.mask || inputs.lengths || inputs.segments || options.causal || options.window || options.alibi;
    require_items(options.show, attend_items({.softcap = options.softcap.has_value(), .masked = masked, .cache = true}));
    for (const Item stage : options.show) {
        if (inputs.cu_seqlens && is_drawn(stage)) {
            throw Error(ErrorKind::usage, option::show, name_of(stage),
                        fmt::format("context, entropy and lse with {}", operand::cu_seqlens.option));
        }
    }
    core::Work work{.threads = settings.threads, .isa = settings.isa};
    if (settings.observer) {
        work.progress = [&](double share) { settings.observer({"attention", {}, share}); };
    }
    const bool in_tiles = core::tiles_serve(views, options, work);
    const auto required = in_tiles ? required_in_tiles : required_bytes;
    require_memory(required(inputs, views, options, settings.threads), settings.memory_limit);
    if (settings.read_numbers) {
        settings.read_numbers();
    }
    read_numbers(inputs, options.align, views);
    const auto sequences = inputs.cu_seqlens ? std::optional(read_boundaries(inputs, views.sizes)) : std::nullopt;
    if (in_tiles) {
        views.look = core::look_at(views, options, work);
    }
    if (!in_tiles || views.look->range == core::ScoreRange::beyond) {
        require_memory(required_bytes(inputs, views, options, settings.threads), settings.memory_limit);
        if (!options.allow_nonfinite) {
            require_finite_inputs(inputs);
        }
    }
    const core::AttentionDims& l = views.sizes;
    if (settings.observer) {
        settings.observer({"attention", {l.B, l.H, l.T, l.total()}, 0});
    }
    AttendResult result{make_tensors(inputs, views, options), {}};
    const bool wide = core::is_wide(views);
    const auto save = wide ? save_cache<double> : save_cache<float>;
    save(views, options.layout, result.tensors);
    const core::AttentionOutputs outputs = outputs_of(views, result.tensors);
    const core::AttentionNotes notes =
        sequences ? attend_packed(*sequences, views, options, outputs, work) : core::attention(views, options, outputs, work);
    result.portable_because = notes.portable_because;
    if (notes.overflowed && !options.allow_nonfinite) {
        result.warnings.push_back(fmt::format("scores: a dot product overflowed {}; the weights of its row may be nan{}",
                                              name_of(wide ? Dtype::float64 : Dtype::float32),
                                              wide ? "" : "; float64 queries, keys or values are computed in float64"));
    }
    return result;
}

} // namespace attn::model
