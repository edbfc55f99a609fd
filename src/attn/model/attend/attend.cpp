#include "attn/model/attend/attend.hpp"

#include "attn/model/attend/resolved_attend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>

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

/// Room for the stages asked for.
std::vector<StoredTensor> make_tensors(const std::vector<AskedStage>& stages)
{
    std::vector<StoredTensor> tensors;
    tensors.reserve(stages.size());
    for (const AskedStage& stage : stages) {
        tensors.emplace_back(std::string(name_of(stage.item)), stage.type, stage.shape);
    }
    return tensors;
}

/// (B, heads, rows, columns) in a tensor of the layout.
core::StageSpan span_of(StoredTensor* tensor, Index heads, Index rows, Index columns, bool side_by_side)
{
    if (tensor == nullptr) {
        return {};
    }
    const Index head = side_by_side ? columns : rows * columns, row = side_by_side ? heads * columns : columns;
    return {tensor->type, tensor->bytes.data(), heads * rows * columns, head, row};
}

core::GradientOutputs gradients_of(const AttendViews& views, TensorLayout layout, std::vector<StoredTensor>& tensors)
{
    const core::AttentionDims& l = views.sizes;
    const bool beside = views.side_by_side, cache_beside = layout == TensorLayout::bshd;
    core::GradientOutputs outputs;
    for (const ItemInfo& info : items) {
        if (!info.gradient) {
            continue;
        }
        const auto span = [&](Index heads, Index rows, Index columns, bool side_by_side) {
            return span_of(find(tensors, info.item), heads, rows, columns, side_by_side);
        };
        core::StageSpan& to = outputs[*info.gradient];
        switch (*info.gradient) {
        case core::Gradient::delta: to = span(l.H, l.T, 1, false); break;
        case core::Gradient::dq: to = span(l.H, l.T, l.d_k, beside); break;
        case core::Gradient::dk: to = span(l.H_kv, l.S, l.d_k, beside); break;
        case core::Gradient::dv: to = span(l.H_kv, l.S, l.d_v, beside); break;
        case core::Gradient::dpast_key: to = span(l.H_kv, l.P, l.d_k, cache_beside); break;
        case core::Gradient::dpast_value: to = span(l.H_kv, l.P, l.d_v, cache_beside); break;
        default: to = span(l.H, l.T, l.total(), false);
        }
    }
    outputs.mask = find(tensors, Item::dmask) != nullptr;
    return outputs;
}

core::StageSpan from_row(core::StageSpan stage, Index row)
{
    stage.data = stage.data == nullptr ? nullptr : stage.at(0, 0, row);
    return stage;
}

/// One of several sequences that lie one after another, as it would be alone.
struct Sequence {
    core::AttentionInputs inputs;
    Index query, key; ///< where it begins
};

Sequence sequence_of(const Boundaries& sequences, const AttendViews& views, const Attend& options, Index n)
{
    const auto at = static_cast<std::size_t>(n);
    const Index query = sequences.queries[at], T = sequences.queries[at + 1] - query;
    const Index key = sequences.keys[at], S = sequences.keys[at + 1] - key;
    Sequence sequence{static_cast<const core::AttentionInputs&>(views), query, key};
    core::AttentionInputs& inputs = sequence.inputs;
    inputs.queries = row_block(views.queries, query, T);
    inputs.keys = row_block(views.keys, key, S);
    inputs.values = row_block(views.values, key, S);
    inputs.offsets = {offset_in_sequence(options.align, T, S)};
    if (const Index H = views.sizes.H; std::ssize(views.slopes) > H) {
        inputs.slopes = {views.slopes.begin() + n * H, views.slopes.begin() + (n + 1) * H};
    }
    if (!views.look || views.look->range != core::ScoreRange::near) {
        inputs.look.reset(); // another sequence may have made it so
    }
    return sequence;
}

/// Every sequence by itself, one after the other, with the numbers that it would give alone. No output is kept that has a
/// number for each query and key.
core::AttentionNotes attend_packed(const ResolvedAttend& call, const core::AttentionOutputs& outputs)
{
    core::AttentionNotes notes;
    const Boundaries& sequences = *call.sequences;
    for (Index n = 0; n < sequences.count(); ++n) {
        const Sequence sequence = sequence_of(sequences, call.views, call.options, n);
        core::AttentionOutputs rows;
        for (const core::Stage stage : core::every_stage) {
            rows[stage] = from_row(outputs[stage], sequence.query);
        }
        const core::AttentionNotes of_sequence =
            core::attention(sequence.inputs, call.options, rows, call.work.piece(n, sequences.count()));
        notes.overflowed = notes.overflowed || of_sequence.overflowed;
        notes.portable_because = of_sequence.portable_because;
    }
    return notes;
}

void add(std::vector<double>& sums, const std::vector<double>& more)
{
    sums.resize(std::max(sums.size(), more.size()));
    std::ranges::transform(more, sums, sums.begin(), std::plus());
}

/// The same for their gradients.
core::GradientSums differentiate_packed(const ResolvedAttend& call, const core::GradientOutputs& outputs)
{
    core::GradientSums sums;
    const Boundaries& sequences = *call.sequences;
    for (Index n = 0; n < sequences.count(); ++n) {
        const auto [inputs, query, key] = sequence_of(sequences, call.views, call.options, n);
        const core::LossGradients rows_of_loss = loss_of_rows(*call.views.loss, query, inputs.queries.shape[2]);
        core::GradientOutputs rows;
        for (const core::Gradient gradient : core::every_gradient) {
            const bool of_keys = gradient == core::Gradient::dk || gradient == core::Gradient::dv;
            rows[gradient] = from_row(outputs[gradient], of_keys ? key : query);
        }
        const core::GradientSums of_sequence =
            core::attention_backward(inputs, call.options, rows_of_loss, rows, call.work.piece(n, sequences.count()));
        add(sums.sinks, of_sequence.sinks);
        sums.scale += of_sequence.scale;
        sums.overflowed = sums.overflowed || of_sequence.overflowed;
    }
    return sums;
}

core::GradientSums differentiate(const ResolvedAttend& call, std::vector<StoredTensor>& tensors)
{
    const core::GradientOutputs outputs = gradients_of(call.views, call.options.layout, tensors);
    core::GradientSums sums = call.sequences
                                  ? differentiate_packed(call, outputs)
                                  : core::attention_backward(call.views, call.options, *call.views.loss, outputs, call.work);
    const auto store_sums = [&](Item item, const std::vector<double>& values) {
        if (StoredTensor* tensor = find(tensors, item)) {
            store(*tensor, 0, std::span(values));
        }
    };
    store_sums(Item::dmask, sums.mask);
    store_sums(Item::dsinks, sums.sinks);
    store_sums(Item::dscale, {sums.scale});
    return sums;
}

/// Of a type of 16 bits.
bool has_infinity(const StoredTensor& tensor)
{
    constexpr unsigned no_sign = 0x7fff;
    const auto infinity = std::numeric_limits<double>::infinity();
    const unsigned wanted = tensor.type == ElementType::float16 ? to_float16(infinity) : to_bfloat16(infinity);
    bool found = false; // without an early end, so that it is fast where there is none
    for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(std::uint16_t)) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, tensor.bytes.data() + at, sizeof(bits));
        found |= (bits & no_sign) == wanted;
    }
    return found;
}

/// A warning where numbers are too large for the type of their stage, and became infinite. In masked scores an infinity hides a
/// key; the cache is copied.
std::optional<std::string> note_of_infinity(const AskedStage& stage, const StoredTensor& tensor)
{
    if (!is_half(stage.type) || is_masked(stage.item) || info_of(stage.item).needs == Needs::cache || !has_infinity(tensor)) {
        return std::nullopt;
    }
    return fmt::format("{}: a number is beyond {}, and became infinite; --out-dtype float32 avoids it", tensor.name,
                       name_of(stage.type));
}

/// Of the type Scalar.
template <typename Scalar>
bool is_finite(const StoredTensor& tensor)
{
    const auto* const numbers = reinterpret_cast<const Scalar*>(tensor.bytes.data()); // which it was allocated for, too
    return all_finite(std::span(numbers, tensor.bytes.size() / sizeof(Scalar)));
}

/// The same of float32 and float64 where the scores are in their range. A row without keys may have the context nan.
std::optional<std::string> note_of_overflow(const AskedStage& stage, const StoredTensor& tensor)
{
    if (is_half(stage.type) || !(is_gradient(stage.item) || stage.item == Item::context)) {
        return std::nullopt;
    }
    const bool fine = stage.type == ElementType::float32 ? is_finite<float>(tensor) : is_finite<double>(tensor);
    if (fine || (!is_gradient(stage.item) && std::isnan(largest_magnitude(tensor.view())))) {
        return std::nullopt;
    }
    return fmt::format("{}: a number on its way is beyond {}{}", tensor.name, name_of(stage.type),
                       stage.type == ElementType::float32 ? "; --out-dtype float64 avoids it" : "");
}

} // namespace

AttendInputs inputs_of(const std::vector<StoredTensor>& tensors)
{
    AttendInputs inputs;
    for (const StoredTensor& tensor : tensors) {
        operand::called(tensor.name)->put(inputs, tensor.view());
    }
    return inputs;
}

AttendResult attend(const AttendInputs& inputs, const Attend& options, const RunSettings& settings)
{
    return attend(ResolvedAttend(inputs, options, settings));
}

AttendResult attend(const ResolvedAttend& call)
{
    const Attend& options = call.options;
    const RunSettings& settings = call.settings;
    const AttendViews& views = call.views;
    const core::AttentionDims& l = views.sizes;
    if (settings.observer) {
        settings.observer({"attention", {l.B, l.H, l.T, l.total()}, 0});
    }
    AttendResult result{make_tensors(call.stages), {}};
    const bool wide = core::is_wide(views);
    const auto save = wide ? save_cache<double> : save_cache<float>;
    save(views, options.layout, result.tensors);
    bool overflowed = false;
    if (std::ranges::any_of(call.stages, [](const AskedStage& stage) { return !is_gradient(stage.item); })) {
        const core::AttentionOutputs outputs = outputs_of(views, result.tensors);
        const core::AttentionNotes notes =
            call.sequences ? attend_packed(call, outputs) : core::attention(views, options, outputs, call.work);
        result.portable_because = notes.portable_because;
        overflowed = notes.overflowed;
    }
    if (views.loss && std::ranges::any_of(call.stages, [](const AskedStage& stage) { return is_gradient(stage.item); })) {
        overflowed = differentiate(call, result.tensors).overflowed || overflowed;
    }
    if (views.loss && settings.isa != core::Isa::portable) {
        result.portable_because = "gradients";
    }
    if (overflowed && !options.allow_nonfinite) {
        // ∞ - ∞ within a product of float64 is nan; those of float32 are summed in float64.
        const std::string_view what_then = wide
                                               ? "float64; the weights of its row may be nan"
                                               : "float32; +∞ takes the whole weight of its row; --out-dtype float64 avoids it";
        result.warnings.push_back(fmt::format("scores: a dot product overflowed {}", what_then));
    }
    for (std::size_t at = 0; at < call.stages.size() && !overflowed && !options.allow_nonfinite; ++at) {
        for (const auto note : {note_of_infinity, note_of_overflow}) {
            if (std::optional<std::string> doubt = note(call.stages[at], result.tensors[at])) {
                result.warnings.push_back(std::move(*doubt));
            }
        }
    }
    return result;
}

} // namespace attn::model
