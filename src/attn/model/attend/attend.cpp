#include "attn/model/attend/attend.hpp"

#include "attn/model/attend/resolved_attend.hpp"

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

core::StageSpan from_row(core::StageSpan stage, Index row)
{
    stage.data = stage.data == nullptr ? nullptr : stage.at(0, 0, row);
    return stage;
}

/// Every sequence by itself, one after the other, with the numbers that it would give alone. No output is kept that has a
/// number for each query and key.
core::AttentionNotes attend_packed(const Boundaries& sequences, const AttendViews& views, const Attend& options,
                                   const core::AttentionOutputs& outputs, const core::Work& work)
{
    core::AttentionNotes notes;
    const auto count = static_cast<Index>(sequences.queries.size()) - 1;
    for (Index n = 0; n < count; ++n) {
        const auto at = static_cast<std::size_t>(n);
        const Index query = sequences.queries[at], T = sequences.queries[at + 1] - query;
        const Index key = sequences.keys[at], S = sequences.keys[at + 1] - key;
        core::AttentionInputs sequence = static_cast<const core::AttentionInputs&>(views);
        sequence.queries = row_block(views.queries, query, T);
        sequence.keys = row_block(views.keys, key, S);
        sequence.values = row_block(views.values, key, S);
        sequence.offsets = {offset_in_sequence(options.align, T, S)};
        if (const Index H = views.sizes.H; std::ssize(views.slopes) > H) {
            sequence.slopes = {views.slopes.begin() + n * H, views.slopes.begin() + (n + 1) * H};
        }
        if (!views.look || views.look->range != core::ScoreRange::near) {
            sequence.look.reset(); // another sequence may have made it so
        }
        core::AttentionOutputs rows;
        for (const core::Stage stage : core::every_stage) {
            rows[stage] = from_row(outputs[stage], query);
        }
        const core::AttentionNotes of_sequence = core::attention(sequence, options, rows, work.piece(n, count));
        notes.overflowed = notes.overflowed || of_sequence.overflowed;
        notes.portable_because = of_sequence.portable_because;
    }
    return notes;
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
    const core::AttentionOutputs outputs = outputs_of(views, result.tensors);
    const core::AttentionNotes notes = call.sequences ? attend_packed(*call.sequences, views, options, outputs, call.work)
                                                      : core::attention(views, options, outputs, call.work);
    result.portable_because = notes.portable_because;
    if (notes.overflowed && !options.allow_nonfinite) {
        // ∞ - ∞ within a product of float64 is nan; those of float32 are summed in float64.
        const std::string_view what_then = wide
                                               ? "float64; the weights of its row may be nan"
                                               : "float32; +∞ takes the whole weight of its row; --out-dtype float64 avoids it";
        result.warnings.push_back(fmt::format("scores: a dot product overflowed {}", what_then));
    }
    return result;
}

} // namespace attn::model
