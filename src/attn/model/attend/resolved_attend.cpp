#include "attn/model/attend/resolved_attend.hpp"

#include "attn/core/tiled.hpp"
#include "attn/model/attend/attend.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::model {
namespace {

// ---- sequences that lie one after another ----------------------------------------------------------------------------------

std::vector<Index> read_rising(const TensorView& view, Index total, const AttendOperand& operand)
{
    if (view.shape[0] == 1 && total > 0) {
        throw Error(ErrorKind::data, operand.name, "1 number", fmt::format("two or more, from 0 to {}", total));
    }
    std::vector<Index> read;
    for (const std::int64_t place : load<std::int64_t>(view).values) {
        const Index least = read.empty() ? 0 : read.back();
        const bool first = read.empty(), last = std::ssize(read) + 1 == view.shape[0];
        if (place < least || place > total || (first && place != 0) || (last && place != total)) {
            throw Error(ErrorKind::data, fmt::format("{}[{}]", operand.name, read.size()), std::to_string(place),
                        fmt::format("numbers from 0 to {} that never fall", total));
        }
        read.push_back(static_cast<Index>(place));
    }
    return read;
}

/// Throws Error(data) for numbers that do not rise from 0 to the number of queries or keys.
Boundaries read_boundaries(const AttendInputs& inputs, const core::AttentionDims& sizes)
{
    std::vector<Index> queries = read_rising(*inputs.cu_seqlens, sizes.T, operand::cu_seqlens);
    return {queries, inputs.cu_seqlens_k ? read_rising(*inputs.cu_seqlens_k, sizes.S, operand::cu_seqlens_k) : queries};
}

// ---- what is shown ---------------------------------------------------------------------------------------------------------

/// Of an input that has a gradient.
const TensorView& input_of(Item gradient, const AttendInputs& inputs)
{
    switch (gradient) {
    case Item::dk: return inputs.keys;
    case Item::dv: return inputs.values;
    case Item::dpast_key: return *inputs.past_key;
    case Item::dpast_value: return *inputs.past_value;
    case Item::dmask: return *inputs.mask;
    case Item::dsinks: return *inputs.sinks;
    default: return inputs.queries;
    }
}

Shape shape_of(Item stage, const AttendInputs& inputs, const AttendViews& views, TensorLayout layout)
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
    case Item::dscale: return {};
    case Item::dq:
    case Item::dk:
    case Item::dv:
    case Item::dpast_key:
    case Item::dpast_value:
    case Item::dmask:
    case Item::dsinks: return input_of(stage, inputs).shape;
    default: {
        const bool single = info_of(stage).axes == one_per_query;
        const std::optional<core::Stage> of = stage_of(stage);
        Shape shape = stage_shape(views, l.H, l.T, single ? 1 : of ? core::columns_of(*of, l) : l.total());
        if (single) {
            shape.pop_back();
        }
        return shape;
    }
    }
}

/// What there is of packed sequences, with any options: "context, entropy and lse".
std::string items_of_packed()
{
    const Show items = existing_items({.command = ShownBy::attend, .needs = {}, .packed = true});
    std::string names;
    for (int left = items.size(); const Item item : items) {
        names.append(names.empty() ? "" : left == 1 ? " and " : ", ").append(name_of(item));
        --left;
    }
    return names;
}

std::vector<AskedStage> asked_stages(const AttendInputs& inputs, const Attend& options, const AttendViews& views)
{
    require_items(options.show, attend_items(options, [&](const AttendOperand& operand) { // keys without a past may be shown
                      return &operand == &operand::past_key ||
                             (&operand != &operand::cu_seqlens && operand.in(inputs) != nullptr);
                  }));
    if (options.show.contains(Item::dmask)) {
        require_floating(*inputs.mask, "dmask of a mask");
    }
    std::vector<AskedStage> stages;
    for (const Item stage : options.show) {
        if (inputs.cu_seqlens && is_drawn(stage)) {
            throw Error(ErrorKind::usage, option::show, name_of(stage),
                        fmt::format("{} with {}", items_of_packed(), operand::cu_seqlens.option));
        }
        stages.push_back({stage, type_of(stage, inputs, options), shape_of(stage, inputs, views, options.layout)});
    }
    return stages;
}

core::Work work_of(const RunSettings& settings, const AttendViews& views)
{
    core::Work work{.threads = settings.threads, .isa = views.loss ? core::Isa::portable : settings.isa};
    if (settings.observer) {
        work.progress = [&settings](double share) { settings.observer({"attention", {}, share}); };
    }
    return work;
}

// ---- memory ----------------------------------------------------------------------------------------------------------------

constexpr const char* memory_asked = "memory for the stages asked for";

/// And of what is known of every key.
Index result_bytes(const ResolvedAttend& call, bool segmented)
{
    constexpr Index per_key = sizeof(std::int32_t) + sizeof(std::int64_t) + sizeof(core::KeyRange);
    const core::AttentionDims& l = call.views.sizes;
    Index bytes = segmented ? checked_product(element_count({l.B, l.total()}), per_key, memory_asked) : 0;
    for (const AskedStage& stage : call.stages) {
        bytes =
            checked_sum(bytes, checked_product(element_count(stage.shape), size_of(stage.type), memory_asked), memory_asked);
    }
    return bytes;
}

/// Of the key/value head that is converted where it cannot be read in place.
Index tiled_work_bytes(const ResolvedAttend& call)
{
    constexpr Index row = 256; // floats that a thread keeps for each of d_k and d_v: two tiles of at most 96 rows, and padding
    const core::AttentionDims& l = call.views.sizes;
    const Index at_once = std::min<Index>(call.work.threads, l.B * l.H * l.T);
    const Index scratch = checked_product(checked_sum(l.d_k, l.d_v, memory_asked), row * at_once, memory_asked);
    const Index converted =
        core::readable_in_tiles(call.views)
            ? 0
            : checked_sum(element_count({l.H / l.H_kv, l.T, l.d_k}), element_count({l.total(), l.d_k + l.d_v}), memory_asked);
    return checked_product(checked_sum(scratch, converted, memory_asked), sizeof(float), memory_asked);
}

/// Of the key/value head that each thread works on; for gradients more of them, for what is transposed and what is added up,
/// and a few rows of numbers for each key.
Index work_bytes(const ResolvedAttend& call)
{
    const core::AttentionDims& l = call.views.sizes;
    const Index of_a_key = call.views.loss ? 6 * checked_sum(l.d_k, l.d_v, memory_asked) + 16 : 2 * (l.d_k + l.d_v);
    const Index heads = element_count({std::min<Index>(call.work.threads, l.B * l.H_kv), l.total(), of_a_key});
    const Index mask = call.options.show.contains(Item::dmask) ? call.inputs.mask->count() : 0;
    return checked_product(checked_sum(heads, mask, memory_asked), sizeof(double), memory_asked);
}

void require_memory(Index required, Index limit)
{
    if (required > limit) {
        throw Error(ErrorKind::too_large, fmt::format("the stages asked for need {} bytes and {} are free; "
                                                      "ask for fewer with --show, or attend to part of the queries",
                                                      required, limit));
    }
}

// ---- numbers ---------------------------------------------------------------------------------------------------------------

void require_finite_inputs(const AttendInputs& inputs, const Arriving* arriving = nullptr)
{
    using namespace operand;
    for (const AttendOperand* operand : {&queries, &keys, &values, &past_key, &past_value, &mask, &grad, &grad_lse}) {
        if (const TensorView* view = operand->in(inputs)) {
            require_finite(*view, operand->name, operand == &mask, "--allow-nonfinite", arriving);
        }
    }
}

} // namespace

Show attend_items(const Attend& options, const std::function<bool(const AttendOperand&)>& given)
{
    using namespace operand;
    const bool differentiated = differentiates(options, given);
    const bool by_tensor = given(mask) || given(lengths) || given(segments) || given(alibi_slopes);
    return existing_items({.command = ShownBy::attend,
                           .needs = {{Needs::softcap, options.softcap.has_value()},
                                     {Needs::mask, by_tensor || options.causal || options.window || options.alibi},
                                     {Needs::cache, given(past_key)},
                                     {Needs::dropout, options.dropout.has_value()},
                                     {Needs::gradient, differentiated},
                                     {Needs::cache_gradient, differentiated && given(past_value)},
                                     {Needs::mask_gradient, differentiated && given(mask)},
                                     {Needs::sink_gradient, differentiated && given(sinks)}},
                           .packed = given(cu_seqlens)});
}

std::vector<AskedStage> asked_stages(const AttendInputs& inputs, const Attend& options)
{
    return asked_stages(inputs, options, lay_out(inputs, options));
}

bool differentiates(const Attend& options, const std::function<bool(const AttendOperand&)>& given)
{
    return options.grad_ones || given(operand::grad) || given(operand::grad_lse);
}

ElementType type_of(Item stage, const AttendInputs& inputs, const Attend& options)
{
    constexpr std::array may_leave_float16{Item::lse, Item::delta, Item::dmask, Item::dsinks, Item::dscale};
    const ElementType type =
        info_of(stage).needs == Needs::cache ? inputs.keys.type : options.out_type.value_or(input_of(stage, inputs).type);
    const bool leaves = std::ranges::find(may_leave_float16, stage) != may_leave_float16.end();
    return leaves && is_half(type) ? ElementType::float32 : type;
}

ResolvedAttend::ResolvedAttend(const AttendInputs& its_inputs, const Attend& its_options, const RunSettings& its_settings)
    : inputs(its_inputs), options(its_options), settings(its_settings), views(lay_out(inputs, options)),
      stages(asked_stages(inputs, options, views)), work(work_of(settings, views))
{
    const auto require_room = [&](Index work_takes) {
        require_memory(checked_sum(result_bytes(*this, inputs.segments.has_value()), work_takes, memory_asked),
                       settings.memory_limit);
    };
    const bool in_tiles = core::tiles_serve(views, options, work);
    require_room(in_tiles ? tiled_work_bytes(*this) : work_bytes(*this));
    if (settings.read_numbers) {
        bool first_bounds = false;
        const std::optional<TensorView>& last_bounds = inputs.cu_seqlens_k ? inputs.cu_seqlens_k : inputs.cu_seqlens;
        settings.read_numbers([&](const Arriving& arriving) { // both paths refuse them
            judge_added(inputs, views, &arriving);
            first_bounds = first_bounds || (inputs.cu_seqlens && arriving.holds(*inputs.cu_seqlens));
            if (first_bounds && arriving.holds(*last_bounds)) {
                (void)read_boundaries(inputs, views.sizes);
            }
            if (!options.allow_nonfinite) {
                require_finite_inputs(inputs, &arriving);
            }
        });
    }
    read_numbers(inputs, options.align, views);
    if (inputs.cu_seqlens) {
        sequences = read_boundaries(inputs, views.sizes);
    }
    if (in_tiles) {
        views.look = core::look_at(views, options, work);
    }
    if (!in_tiles || views.look->range == core::ScoreRange::beyond) {
        require_room(work_bytes(*this));
        if (!options.allow_nonfinite) {
            require_finite_inputs(inputs);
        }
    }
}

} // namespace attn::model
