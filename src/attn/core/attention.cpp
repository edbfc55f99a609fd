#include "attn/core/attention.hpp"

#include "attn/core/block.hpp"
#include "attn/core/parallel.hpp"
#include "attn/core/tiled.hpp"
#include "attn/core/visibility.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

namespace attn::core {
namespace {

[[noreturn]] void refuse(const AttentionInputs& in)
{
    const auto shape = [](const std::optional<TensorView>& view) { return view ? to_string(view->shape) : "none"; };
    throw Error(ErrorKind::internal, "attention",
                fmt::format("queries {}, keys {}, values {}, cache {} and {}, mask {}, {} query positions, kept weights {}",
                            shape(in.queries), shape(in.keys), shape(in.values), shape(in.past_key), shape(in.past_value),
                            shape(in.mask), in.query_positions.size(), shape(in.kept)),
                "(B, H, T, d_k), (B, H_kv, S, d_k), (B, H_kv, S, d_v), (B, H_kv, P, d_k) and (B, H_kv, P, d_v) with H a "
                "multiple of H_kv, a mask (B, H, T, up to P+S), T positions or none, with dropout kept weights (B, H, T, P+S), "
                "parameters of the scores, slopes and sinks for each of H heads where they have some, slopes also (B, H), "
                "segments (B, P+S)");
}

/// Whether a mask has the rows of all queries, and no more keys than there are.
bool fits(const TensorView& mask, const AttentionInputs& in, const AttentionDims& dims)
{
    const Shape& m = mask.shape;
    const std::vector<Index>& places = in.query_positions;
    const auto is_row = [&](Index place) { return place >= 0 && place < m[2]; };
    return m.size() == 4 && m[0] == dims.B && m[1] == dims.H && m[3] <= dims.total() &&
           (places.empty() ? m[2] == dims.T : std::ranges::all_of(places, is_row));
}

/// How many numbers a key has: as many as a query, but for additive scores, which have a matrix for each.
Index key_size(const AttentionInputs& in, Score score)
{
    return (score == Score::additive ? in.keys : in.queries).shape[3];
}

/// Whether the parameters of each query head are those that its scores need.
bool fit_scores(const AttentionInputs& in, const AttentionOptions& options, const AttentionDims& d)
{
    const bool additive = options.score == Score::additive;
    if (!function_of(options.score).has_parameters) {
        return in.score_parameters.empty();
    }
    const auto fits_head = [&](const ScoreParameters& p) {
        const Index d_a = p.W_a.cols();
        const auto is_bias = [&](const RowVector<double>& b) { return b.size() == 0 || b.size() == d_a; };
        const bool others =
            additive ? p.U_a.rows() == key_size(in, options.score) && p.U_a.cols() == d_a && p.v_a.size() == d_a : d_a == d.d_k;
        return p.W_a.rows() == d.d_k && others && is_bias(p.b_Wa) && is_bias(p.b_Ua);
    };
    return std::ssize(in.score_parameters) == d.H && std::ranges::all_of(in.score_parameters, fits_head);
}

// ---- the portable path -----------------------------------------------------------------------------------------------

struct Call {
    const AttentionInputs& inputs;
    const AttentionOptions& options;
    const AttentionOutputs& outputs;
    Rounding rounding;
};

template <typename Scalar>
bool portable_attention(const Call& call, const Work& work)
{
    const AttentionDims d = call.inputs.dims();
    const Index group = d.H / d.H_kv;
    const Index rows = std::clamp<Index>(scores_per_block / std::max<Index>(d.total(), 1), 1, std::max<Index>(d.T, 1));
    const Index blocks = (d.T + rows - 1) / rows;
    const Index groups = d.B * d.H_kv;
    const double multiplications =
        static_cast<double>(group * d.T) * static_cast<double>(d.total()) * static_cast<double>(d.d_k + d.d_v);
    const int threads = multiplications < worth_a_thread ? 1 : work.threads;
    std::atomic<bool> overflowed = false;
    PerStage<bool> wanted;
    for (const Stage stage : every_stage) {
        wanted[stage] = call.outputs[stage].data != nullptr;
    }

    const auto attend_group = [&](Index index, Work part) {
        const Index b = index / d.H_kv;
        const Index g = index % d.H_kv;
        const KeysAndValues kv = load_keys_and_values<Scalar>(call.inputs, b, g);
        std::vector<Matrix<Scalar>> aligned;
        for (Index h = g * group; h < (g + 1) * group; ++h) {
            aligned.push_back(aligned_keys<Scalar>(call.inputs, call.options.score, kv.K_transposed, h, call.rounding));
        }
        part.threads = std::min(part.threads, threads);
        for_each_block(group * blocks, part, [&](Index block) {
            const Index first = block % blocks * rows;
            const Index place = block / blocks;
            const QueryRows of_head{b, g * group + place, first, std::min(rows, d.T - first)};
            const BlockStages<Scalar> stages = compute_block<Scalar>(
                call.inputs, call.options, of_head, kv, aligned[static_cast<std::size_t>(place)], wanted, call.rounding);
            for (const Stage stage : every_stage) {
                if (stages[stage].size() != 0) { // others are not kept, or do not exist
                    store_rows(stages[stage], of_head, call.outputs[stage]);
                }
            }
            if (stages.overflowed) {
                overflowed = true;
            }
        });
    };
    if (group * blocks < work.threads && multiplications * static_cast<double>(groups) >= worth_a_thread) {
        // Too few rows to share: whole heads are the pieces.
        for_each_block(groups, work, [&](Index index) { attend_group(index, {}); });
    } else {
        for (Index index = 0; index < groups; ++index) {
            attend_group(index, work.piece(index, groups));
        }
    }
    return overflowed;
}

// ---- stages as tensors -----------------------------------------------------------------------------------------------

/// Whether there is such a stage with these inputs and options.
bool exists(Stage stage, const AttentionInputs& inputs, const AttentionOptions& options)
{
    switch (stage) {
    case Stage::capped_scores: return options.softcap.has_value();
    case Stage::masked_scores: return inputs.masked(options);
    case Stage::dropped_weights: return options.dropout.has_value();
    default: return true;
    }
}

// ---- which of the two paths ------------------------------------------------------------------------------------------

/// What no tiles compute, as a message names it; empty when they do. How far the numbers reach is another question.
std::string_view beyond_tiles(const AttentionInputs& inputs, const AttentionOptions& options, Rounding rounding)
{
    const bool rounded = options.softmax_type.value_or(ElementType::float32) != ElementType::float32;
    return is_wide(inputs)                     ? "float64"
           : rounded                           ? "a softmax in another type than float32"
           : options.stage_type                ? "stages in another type than float32"
           : !options.multiplies()             ? "scores other than products of queries and keys"
           : options.mask_at != MaskAt::scaled ? "masks before the scale"
           : options.dropout                   ? "dropout"
           : rounding == Rounding::step        ? "rounding after every operation"
                                               : "";
}

} // namespace

void require_shapes(const AttentionInputs& in, const AttentionOptions& options)
{
    const auto has_rank = [](const TensorView& view) { return view.shape.size() == 4; };
    if (!has_rank(in.queries) || !has_rank(in.keys) || !has_rank(in.values) || (in.past_key && !has_rank(*in.past_key)) ||
        (in.past_value && !has_rank(*in.past_value)) || in.past_key.has_value() != in.past_value.has_value()) {
        refuse(in);
    }
    const AttentionDims d = in.dims();
    const bool heads = d.d_k > 0 && d.H_kv > 0 && d.H % d.H_kv == 0;
    const auto is = [&](const TensorView& view, Index rows, Index columns) { // compared without a vector: this is called often
        return std::ranges::equal(view.shape, std::array{d.B, d.H_kv, rows, columns});
    };
    const Index of_a_key = key_size(in, options.score);
    const bool keys = is(in.keys, d.S, of_a_key) && is(in.values, d.S, d.d_v);
    const bool cache = !in.past_key || (is(*in.past_key, d.P, of_a_key) && is(*in.past_value, d.P, d.d_v));
    const auto fits_or_none = [](const auto& list, Index count) {
        return list.empty() || static_cast<Index>(list.size()) == count;
    };
    const bool dropout = in.kept.has_value() == options.dropout.has_value() &&
                         (!in.kept || (fits(*in.kept, in, d) && in.kept->shape[3] == d.total()));
    if (!heads || !keys || !cache || !dropout || !fit_scores(in, options, d) || (in.mask && !fits(*in.mask, in, d)) ||
        !fits_or_none(in.offsets, d.B) || !fits_or_none(in.lengths, d.B) || !fits_or_none(in.query_positions, d.T) ||
        !(fits_or_none(in.slopes, d.H) || fits_or_none(in.slopes, d.B * d.H)) || !fits_or_none(in.sinks, d.H) ||
        (in.segments && (in.extra_key || std::ssize(in.segments->of_key) != d.B * d.total()))) {
        refuse(in);
    }
}

AttentionDims AttentionInputs::dims() const
{
    return {.B = queries.shape[0],
            .H = queries.shape[1],
            .H_kv = keys.shape[1],
            .T = queries.shape[2],
            .S = keys.shape[2],
            .P = past_key ? past_key->shape[2] : 0,
            .d_k = queries.shape[3],
            .d_v = values.shape[3]};
}

bool is_wide(const AttentionInputs& inputs)
{
    return inputs.wide || inputs.queries.type == ElementType::float64 || inputs.keys.type == ElementType::float64 ||
           inputs.values.type == ElementType::float64;
}

bool tiles_serve(const AttentionInputs& inputs, const AttentionOptions& options, const Work& work)
{
    return work.isa != Isa::portable && beyond_tiles(inputs, options, work.rounding).empty();
}

AttentionNotes attention(const AttentionInputs& inputs, const AttentionOptions& options, const AttentionOutputs& outputs,
                         const Work& work)
{
    require_shapes(inputs, options);
    AttentionNotes notes;
    if (tiles_serve(inputs, options, work)) {
        const Look look = inputs.look ? *inputs.look : look_at(inputs, options, work);
        if (look.range != ScoreRange::beyond) {
            tiled_attention(inputs, options, outputs, look, work);
            return notes;
        }
        notes.portable_because = "numbers that are not finite or may overflow on the way";
    } else if (work.isa != Isa::portable) {
        notes.portable_because = beyond_tiles(inputs, options, work.rounding);
    }
    const Call call{inputs, options, outputs, work.rounding};
    notes.overflowed = is_wide(inputs) ? portable_attention<double>(call, work) : portable_attention<float>(call, work);
    return notes;
}

Shape shape_of(Stage stage, const AttentionDims& dims)
{
    Shape shape{dims.H, dims.T, columns_of(stage, dims)};
    if (is_single(stage)) {
        shape.pop_back();
    }
    return shape;
}

TensorView as_batch(TensorView view)
{
    view.shape.insert(view.shape.begin(), 1);
    view.strides.insert(view.strides.begin(), 0);
    return view;
}

template <typename Scalar>
Stages<Scalar> attention(const AttentionInputs& inputs, const AttentionOptions& options, const StageSelection& selection,
                         const Work& work)
{
    Stages<Scalar> stages;
    AttentionOutputs outputs;
    for (const Stage stage : every_stage) {
        if (selection[stage] && exists(stage, inputs, options)) {
            stages[stage] = Tensor<Scalar>(shape_of(stage, inputs.dims()));
            outputs[stage] = span_of(stages[stage]);
        }
    }
    static_cast<AttentionNotes&>(stages) = attention(inputs, options, outputs, work);
    return stages;
}

template Stages<float> attention(const AttentionInputs&, const AttentionOptions&, const StageSelection&, const Work&);
template Stages<double> attention(const AttentionInputs&, const AttentionOptions&, const StageSelection&, const Work&);

} // namespace attn::core
