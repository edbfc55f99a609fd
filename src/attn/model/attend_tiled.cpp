#include "attn/model/attend_tiled.hpp"

#include <algorithm>
#include <array>

namespace attn::model {
namespace {

/// Heads [first, first + count) of batch entry b, (1, count, rows, d).
TensorView heads_of(const TensorView& view, Index b, Index first, Index count)
{
    TensorView heads = slice(view, std::array{b});
    heads.bytes = heads.bytes.subspan(static_cast<std::size_t>(count == 0 ? 0 : first * heads.strides[0] * size_of(view.type)));
    heads.shape[0] = count;
    heads.shape.insert(heads.shape.begin(), 1);
    heads.strides.insert(heads.strides.begin(), 0);
    return heads;
}

/// A view that tiles can read, of the same numbers; `copy` holds them where they had to be converted.
TensorView readable(TensorView view, Tensor<float>& copy)
{
    if (core::readable_in_tiles(view)) {
        return view;
    }
    copy = load<float>(view);
    return row_major_view(ElementType::float32, copy.shape, std::as_bytes(std::span(copy.values)));
}

core::StageSpan span_of(StoredTensor* tensor, Index heads, Index rows, Index columns)
{
    if (tensor == nullptr) {
        return {};
    }
    return {tensor->type, tensor->bytes.data(), heads * rows * columns, rows * columns, columns};
}

core::TiledOutputs outputs_of(const AttendViews& views, std::vector<StoredTensor>& tensors)
{
    const AttendLengths& l = views.sizes;
    const auto square = [&](Stage stage) { return span_of(find(tensors, stage), l.H, l.T, l.total()); };
    core::TiledOutputs outputs{.context = span_of(find(tensors, Stage::context), l.H, l.T, l.d_v),
                               .scores = square(Stage::scores),
                               .scaled_scores = square(Stage::scaled_scores),
                               .capped_scores = square(Stage::capped_scores),
                               .masked_scores = square(Stage::masked_scores),
                               .weights = square(Stage::weights),
                               .entropy = span_of(find(tensors, Stage::entropy), l.H, l.T, 1)};
    if (views.side_by_side) {
        outputs.context.head = l.d_v;
        outputs.context.row = l.H * l.d_v;
    }
    return outputs;
}

/// The part of the outputs that belongs to one batch entry and to heads from `first` on.
core::TiledOutputs outputs_from(core::TiledOutputs outputs, Index b, Index first)
{
    for (core::StageSpan* stage : {&outputs.context, &outputs.scores, &outputs.scaled_scores, &outputs.capped_scores,
                                   &outputs.masked_scores, &outputs.weights, &outputs.entropy}) {
        if (stage->data != nullptr) {
            stage->data += (b * stage->batch + first * stage->head) * size_of(stage->type);
        }
    }
    return outputs;
}

/// What query heads of key/value head g in batch entry b read, converted where tiles could not read it.
class GroupInputs {
public:
    GroupInputs(const core::TiledInputs& all, Index b, Index g)
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
        inputs_.reach = all.reach;
        inputs_.offsets = {all.offsets[static_cast<std::size_t>(b)]};
        if (!all.lengths.empty()) {
            inputs_.lengths = {all.lengths[static_cast<std::size_t>(b)]};
        }
    }

    [[nodiscard]] const core::TiledInputs& inputs() const { return inputs_; }

private:
    Tensor<float> queries_, keys_, values_, past_key_, past_value_;
    core::TiledInputs inputs_;
};

void save_cache(const AttendViews& views, std::vector<StoredTensor>& tensors)
{
    const AttendLengths& l = views.sizes;
    const auto save = [&](Stage stage, const std::optional<TensorView>& past, const TensorView& now) {
        StoredTensor* tensor = find(tensors, stage);
        for (Index unit = 0; tensor != nullptr && unit < l.B * l.H_kv; ++unit) {
            const Tensor<float> rows = joined<float>(past, now, unit / l.H_kv, unit % l.H_kv);
            store(*tensor, unit * static_cast<Index>(rows.values.size()), std::span<const float>(rows.values));
        }
    };
    save(Stage::present_key, views.past_key, views.keys);
    save(Stage::present_value, views.past_value, views.values);
}

} // namespace

bool is_wide(const AttendViews& views)
{
    const auto wide = [](const TensorView& view) { return view.type == ElementType::float64; };
    return wide(views.queries) || wide(views.keys) || wide(views.values);
}

std::string_view beyond_tiles(const AttendViews& views, const Attend& options)
{
    return is_wide(views) ? core::float64_numbers : core::beyond_tiles({.softmax_type = options.softmax_type});
}

bool tiles_read_in_place(const AttendViews& views)
{
    const auto readable = [](const std::optional<TensorView>& view) { return !view || core::readable_in_tiles(*view); };
    return readable(views.queries) && readable(views.keys) && readable(views.values) && readable(views.past_key) &&
           readable(views.past_value);
}

core::TiledInputs tiled_inputs(const AttendViews& views, const Attend& options)
{
    core::TiledInputs inputs{views.queries, views.keys, views.values, views.past_key, views.past_value};
    inputs.mask = views.mask;
    inputs.lengths = views.lengths;
    for (Index b = 0; b < views.sizes.B; ++b) {
        inputs.offsets.push_back(offset_of(views, options.align, static_cast<std::size_t>(b)));
    }
    inputs.reach = core::reach_of(inputs, options);
    return inputs;
}

void attend_tiled(const AttendViews& views, const core::TiledInputs& all, const Attend& options, const RunSettings& settings,
                  std::vector<StoredTensor>& tensors, const core::Work& work)
{
    const core::TiledOutputs outputs = outputs_of(views, tensors);
    save_cache(views, tensors);
    if (tiles_read_in_place(views)) {
        return core::tiled_attention(all, options, outputs, work, settings.isa);
    }
    const AttendLengths& l = views.sizes;
    const Index groups = l.B * l.H_kv;
    for (Index unit = 0; unit < groups; ++unit) {
        const Index b = unit / l.H_kv, g = unit % l.H_kv;
        core::Work part{work.threads, {}};
        if (work.progress) {
            part.progress = [&](double share) {
                work.progress((static_cast<double>(unit) + share) / static_cast<double>(groups));
            };
        }
        const GroupInputs group(all, b, g);
        core::tiled_attention(group.inputs(), options, outputs_from(outputs, b, g * (l.H / l.H_kv)), part, settings.isa);
    }
}

} // namespace attn::model
