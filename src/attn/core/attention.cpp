#include "attn/core/attention.hpp"

#include "attn/core/parallel.hpp"
#include "attn/core/stages.hpp"
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

/// About how many scores a block holds: a few hundred KiB a stage, whatever the length of the sequence.
constexpr Index scores_per_block = 32768;

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

// ---- the portable path -----------------------------------------------------------------------------------------------

/// What the query rows of one key/value head read.
struct KeysAndValues {
    Matrix<double> K_transposed; ///< (d_k, P+S)
    Matrix<double> V;            ///< (P+S, d_v)
};

/// Calls `use` with matrix (b, h) of a view, rounded to Scalar.
template <typename Scalar, typename Use>
void with_matrix(const TensorView& view, Index b, Index h, const Use& use)
{
    if (const auto in_place = matrix_in_place<Scalar>(view, std::array{b, h})) {
        return use(*in_place);
    }
    use(load_matrix<Scalar>(view, std::array{b, h}));
}

template <typename Scalar>
KeysAndValues load_keys_and_values(const AttentionInputs& in, Index b, Index g)
{
    const AttentionDims d = in.dims();
    KeysAndValues kv{Matrix<double>(in.keys.shape[3], d.total()), Matrix<double>(d.total(), d.d_v)};
    const auto load = [&](const TensorView& keys, const TensorView& values, Index first, Index count) {
        with_matrix<Scalar>(keys, b, g, [&](const auto& K) {
            kv.K_transposed.middleCols(first, count) = K.template cast<double>().transpose();
        });
        with_matrix<Scalar>(values, b, g, [&](const auto& V) { kv.V.middleRows(first, count) = V.template cast<double>(); });
    };
    if (in.past_key) {
        load(*in.past_key, *in.past_value, 0, d.P);
    }
    load(in.keys, in.values, d.P, d.S);
    return kv;
}

/// What general and additive scores of a query head read of the keys: W_a·k + b_Wa or U_a·k + b_Ua (P+S, d_a); of other
/// scores, nothing.
template <typename Scalar>
Matrix<Scalar> aligned_keys(const AttentionInputs& in, Score score, const Matrix<double>& K_transposed, Index h,
                            Rounding rounding)
{
    if (in.score_parameters.empty()) {
        return {};
    }
    const ScoreParameters& own = in.score_parameters[static_cast<std::size_t>(h)];
    const Matrix<Scalar> K = K_transposed.transpose().template cast<Scalar>();
    return score == Score::general ? project<Scalar>(K, own.W_a, own.b_Wa, rounding)
                                   : project<Scalar>(K, own.U_a, own.b_Ua, rounding);
}

struct Call {
    const AttentionInputs& inputs;
    const AttentionOptions& options;
    const AttentionOutputs& outputs;
    Rounding rounding;
};

/// Rows [first, first + count) of query head h in batch entry b, through all stages.
template <typename Scalar>
class Block {
public:
    Block(const Call& call, Index b, Index h, Index first, Index count)
        : inputs_(call.inputs), options_(call.options), outputs_(call.outputs), rounding_(call.rounding), b_(b), h_(h),
          first_(first), count_(count)
    {
    }

    /// Writes its rows of every stage that is kept. `aligned` is that of this head. Returns whether a score overflowed.
    [[nodiscard]] bool compute(const KeysAndValues& kv, const Matrix<Scalar>& aligned) const
    {
        const Index d_k = kv.K_transposed.rows();
        Matrix<Scalar> S = in_stage_digits(scores(kv.K_transposed, aligned)); // scores = Q·Kᵀ, or another function
        store(S, outputs_[Stage::scores]);
        bool overflowed = false;
        if (options_.mask_at == MaskAt::scores) {
            overflowed = !S.allFinite();
            S = masked(std::move(S));
        }
        S = in_stage_digits(scale<Scalar>(S, options_.factor(), d_k, rounding_)); // scaled_scores = scores · scale
        if (options_.mask_at == MaskAt::scaled) {
            overflowed = !S.allFinite(); // what overflowed before the scaling has stayed so
        }
        store(S, outputs_[Stage::scaled_scores]);
        if (options_.softcap) {
            S = in_stage_digits(
                softcap<Scalar>(S, *options_.softcap, rounding_)); // capped_scores = c · tanh(scaled_scores / c)
            store(S, outputs_[Stage::capped_scores]);
        }
        if (options_.mask_at == MaskAt::scaled) {
            S = masked(std::move(S));
        }
        if (options_.softmax_type) {
            S = rounded<Scalar>(S, *options_.softmax_type);
        }
        Matrix<Scalar> W = weights(S);
        store(W, outputs_[Stage::weights]);
        store_entropy(W);
        if (outputs_[Stage::lse].data != nullptr) {
            store(log_sum_exp<Scalar>(S, sink()).transpose(), outputs_[Stage::lse]); // lse = ln Σ exp(masked_scores)
        }
        if (options_.dropout) {
            W = drop<Scalar>(W, kept(), options_.dropout->p, rounding_); // dropped_weights = weights · kept / (1 - p)
            store(W, outputs_[Stage::dropped_weights]);
        }
        if (options_.weights_type) {
            W = weights(S, options_.weights_type);
        }
        store(filled(weighted_sum<Scalar>(W, kv.V, rounding_), W), outputs_[Stage::head_context]); // head_context = weights · V
        return overflowed;
    }

private:
    [[nodiscard]] Matrix<Scalar> in_stage_digits(Matrix<Scalar> S) const
    {
        return options_.stage_type ? with_digits_of<Scalar>(S, *options_.stage_type) : S;
    }

    void store_entropy(const Matrix<Scalar>& W) const
    {
        if (outputs_[Stage::entropy].data != nullptr) {
            store(filled(entropy<Scalar>(W).transpose(), W), outputs_[Stage::entropy]);
        }
    }

    /// 1 for the weights that stay, 0 for those that dropout takes.
    [[nodiscard]] Matrix<double> kept() const
    {
        const std::vector<Index>& places = inputs_.query_positions;
        const TensorView of_head = slice(*inputs_.kept, std::array{b_, h_});
        Matrix<double> rows(count_, of_head.shape[1]);
        for (Index i = 0; i < count_; ++i) {
            const Index place = places.empty() ? first_ + i : places[static_cast<std::size_t>(first_ + i)];
            rows.row(i) = load_matrix<double>(row_block(of_head, place, 1), {});
        }
        return rows;
    }

    [[nodiscard]] Matrix<Scalar> scores(const Matrix<double>& K_transposed, const Matrix<Scalar>& aligned) const
    {
        if (const auto Q = matrix_in_place<Scalar>(inputs_.queries, std::array{b_, h_})) {
            return scores_of(Q->middleRows(first_, count_), K_transposed, aligned);
        }
        const TensorView rows = row_block(slice(inputs_.queries, std::array{b_, h_}), first_, count_);
        return scores_of(load_matrix<Scalar>(rows, {}), K_transposed, aligned);
    }

    [[nodiscard]] Matrix<Scalar> scores_of(const MatrixView<Scalar>& Q, const Matrix<double>& K_transposed,
                                           const Matrix<Scalar>& aligned) const
    {
        if (options_.score == Score::additive) {
            const ScoreParameters& own = inputs_.score_parameters[static_cast<std::size_t>(h_)];
            return additive_scores<Scalar>(project<Scalar>(Q, own.W_a, own.b_Wa, rounding_), aligned, own, rounding_);
        }
        if (options_.score == Score::general) {
            return core::scores<Scalar>(options_.score, Q, aligned.transpose().template cast<double>(), rounding_);
        }
        return core::scores<Scalar>(options_.score, Q, K_transposed, rounding_);
    }

    /// masked_scores = S + bias, -inf where masked; S itself without a mask.
    [[nodiscard]] Matrix<Scalar> masked(Matrix<Scalar> S) const
    {
        if (!inputs_.masked(options_)) {
            return S;
        }
        if (has_bias(inputs_, options_)) {
            S = add_bias<Scalar>(S, bias(S.cols()));
        }
        S = mask<Scalar>(in_stage_digits(std::move(S)), visible());
        store(S, outputs_[Stage::masked_scores]);
        return S;
    }

    [[nodiscard]] Matrix<double> bias(Index keys) const
    {
        Matrix<double> values(count_, keys);
        (void)load_bias(inputs_, options_, {b_, h_, first_, count_, 0, keys}, values.data(), keys);
        return values;
    }

    [[nodiscard]] std::vector<KeyRange> visible() const
    {
        std::vector<KeyRange> ranges;
        ranges.reserve(static_cast<std::size_t>(count_));
        for (Index i = 0; i < count_; ++i) {
            ranges.push_back(visible_keys(inputs_, options_, b_, first_ + i));
        }
        return ranges;
    }

    [[nodiscard]] Scalar empty_row() const
    {
        return options_.nan_for_empty_rows ? std::numeric_limits<Scalar>::quiet_NaN() : Scalar{0};
    }

    [[nodiscard]] Scalar sink() const
    {
        return inputs_.sinks.empty() ? minus_infinity<Scalar>
                                     : static_cast<Scalar>(inputs_.sinks[static_cast<std::size_t>(h_)]);
    }

    /// Without any key, every row is empty and has no weight that could say so.
    [[nodiscard]] Matrix<Scalar> filled(Matrix<Scalar> rows, const Matrix<Scalar>& weights) const
    {
        if (weights.cols() == 0 && sink() == minus_infinity<Scalar>) {
            rows.setConstant(empty_row());
        }
        return rows;
    }

    [[nodiscard]] Matrix<Scalar> weights(const Matrix<Scalar>& masked, std::optional<ElementType> power_type = {}) const
    {
        Matrix<Scalar> W = softmax<Scalar>(masked, {empty_row(), sink(), power_type, rounding_});
        W = options_.stage_type ? rounded<Scalar>(W, *options_.stage_type) : W;
        return options_.softmax_type ? rounded<Scalar>(W, *options_.softmax_type) : W;
    }

    void store(const Matrix<Scalar>& rows, const StageSpan& stage) const
    {
        for (Index i = 0; stage.data != nullptr && i < count_; ++i) {
            const std::span<const Scalar> row(rows.data() + i * rows.cols(), static_cast<std::size_t>(rows.cols()));
            to_bytes(stage.type, row, stage.at(b_, h_, first_ + i));
        }
    }

    const AttentionInputs& inputs_;
    const AttentionOptions& options_;
    const AttentionOutputs& outputs_;
    Rounding rounding_;
    Index b_, h_, first_, count_;
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
            const Block<Scalar> of_rows(call, b, g * group + place, first, std::min(rows, d.T - first));
            if (of_rows.compute(kv, aligned[static_cast<std::size_t>(place)])) {
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

template <typename Scalar>
StageSpan span_of(Tensor<Scalar>& stage)
{
    const Index row = stage.shape.size() < 3 ? 1 : stage.shape[2];
    return {.type = element_type_of<Scalar>,
            .data = reinterpret_cast<std::byte*>(stage.values.data()),
            .head = stage.shape[1] * row,
            .row = row};
}

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
           : !options.multiplies()             ? "scores that are no products of queries and keys"
           : options.mask_at != MaskAt::scaled ? "masks before the scale"
           : options.dropout                   ? "dropout"
           : rounding == Rounding::step        ? "rounding after every operation"
                                               : "";
}

} // namespace

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
