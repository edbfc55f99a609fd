#include "attn/core/block.hpp"

#include "attn/core/stages.hpp"
#include "attn/core/visibility.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace attn::core {
namespace {

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
class Block {
public:
    Block(const AttentionInputs& inputs, const AttentionOptions& options, const QueryRows& rows, const PerStage<bool>& wanted,
          Rounding rounding)
        : inputs_(inputs), options_(options), rows_(rows), wanted_(wanted), rounding_(rounding), seen_(seen_by_rows()),
          keys_(computed_keys())
    {
        for (KeyRange& seen : seen_) {
            seen = seen.begin < seen.end ? KeyRange{seen.begin - keys_.begin, seen.end - keys_.begin} : KeyRange{0, 0};
        }
    }

    /// `aligned` is that of this head.
    [[nodiscard]] BlockStages<Scalar> compute(const KeysAndValues& kv, const Matrix<Scalar>& aligned)
    {
        const Index d_k = kv.K_transposed.rows(), count = keys_.end - keys_.begin;
        // scores = Q·Kᵀ, or another function
        Matrix<Scalar> S = in_stage_digits(scores(kv.K_transposed.middleCols(keys_.begin, count), aligned));
        keep(S, Stage::scores);
        if (options_.mask_at == MaskAt::scores) {
            stages_.overflowed = !is_finite_where_seen(S);
            S = masked(std::move(S));
        }
        S = in_stage_digits(scale<Scalar>(S, options_.factor(), d_k, rounding_)); // scaled_scores = scores · scale
        if (options_.mask_at == MaskAt::scaled) {
            stages_.overflowed = !is_finite_where_seen(S); // what overflowed before the scaling has stayed so
        }
        keep(S, Stage::scaled_scores);
        if (options_.softcap) {
            S = in_stage_digits(
                softcap<Scalar>(S, *options_.softcap, rounding_)); // capped_scores = c · tanh(scaled_scores / c)
            keep(S, Stage::capped_scores);
        }
        if (options_.mask_at == MaskAt::scaled) {
            S = masked(std::move(S));
        }
        if (options_.softmax_type) {
            S = rounded<Scalar>(S, *options_.softmax_type);
        }
        Matrix<Scalar> W = weights(S);
        keep(W, Stage::weights);
        if (wanted_[Stage::entropy]) {
            stages_[Stage::entropy] = filled(entropy<Scalar>(W).transpose(), W);
        }
        if (wanted_[Stage::lse]) {
            stages_[Stage::lse] = log_sum_exp<Scalar>(S, sink()).transpose(); // lse = ln Σ exp(masked_scores)
        }
        if (options_.dropout) {
            const Matrix<double> kept = load_kept(inputs_, rows_);
            const auto drop_from = [&](const Matrix<Scalar>& all) {
                return drop<Scalar>(all, kept, options_.dropout->p, rounding_);
            };
            keep(drop_from(W), Stage::dropped_weights); // dropped_weights = weights · kept / (1 - p)
            W = drop_from(options_.weights_type ? weights(S, options_.weights_type) : W);
        } else if (options_.weights_type) {
            W = weights(S, options_.weights_type);
        }
        if (wanted_[Stage::head_context]) {
            stages_[Stage::head_context] = // head_context = weights · V
                filled(weighted_sum<Scalar>(W, kv.V.middleRows(keys_.begin, count), rounding_), W);
        }
        stages_.factors = of_all_keys(std::move(W), 0);
        return std::move(stages_);
    }

private:
    /// What each of the rows sees by its place.
    [[nodiscard]] std::vector<KeyRange> seen_by_rows() const
    {
        std::vector<KeyRange> seen;
        seen.reserve(static_cast<std::size_t>(rows_.count));
        for (Index i = 0; i < rows_.count; ++i) {
            seen.push_back(visible_keys(inputs_, options_, rows_.b, rows_.first + i));
        }
        return seen;
    }

    /// What is before and behind all that the rows see takes half of the time of a long causal sequence, and changes nothing:
    /// the weights there are 0. It is computed where a stage shows it, or is made from all keys at once.
    [[nodiscard]] KeyRange computed_keys() const
    {
        const KeyRange all{0, inputs_.dims().total()};
        const bool shown = wanted_[Stage::scores] || wanted_[Stage::scaled_scores] || wanted_[Stage::capped_scores];
        if (shown || !options_.multiplies() || options_.dropout || options_.nan_for_empty_rows) {
            return all;
        }
        KeyRange keys{all.end, 0};
        for (const KeyRange& seen : seen_) {
            if (seen.begin < seen.end) {
                keys = {std::min(keys.begin, seen.begin), std::max(keys.end, seen.end)};
            }
        }
        return keys.begin < keys.end ? keys : KeyRange{0, 0};
    }

    void keep(const Matrix<Scalar>& values, Stage stage)
    {
        if (wanted_[stage]) {
            stages_[stage] = of_all_keys(values, stage == Stage::masked_scores ? minus_infinity<Scalar> : 0);
        }
    }

    /// (count, P+S), with this number where nothing was computed.
    [[nodiscard]] Matrix<Scalar> of_all_keys(Matrix<Scalar> values, Scalar others) const
    {
        const Index total = inputs_.dims().total();
        if (values.cols() == total) {
            return values;
        }
        Matrix<Scalar> all = Matrix<Scalar>::Constant(rows_.count, total, others);
        all.middleCols(keys_.begin, values.cols()) = values;
        return all;
    }

    [[nodiscard]] bool is_finite_where_seen(const Matrix<Scalar>& S) const
    {
        for (Index i = 0; i < rows_.count; ++i) {
            const KeyRange& seen = seen_[static_cast<std::size_t>(i)];
            if (!S.row(i).segment(seen.begin, seen.end - seen.begin).allFinite()) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] Matrix<Scalar> in_stage_digits(Matrix<Scalar> S) const
    {
        return options_.stage_type ? with_digits_of<Scalar>(S, *options_.stage_type) : S;
    }

    [[nodiscard]] Matrix<Scalar> scores(const MatrixView<double>& K_transposed, const Matrix<Scalar>& aligned) const
    {
        if (const auto Q = matrix_in_place<Scalar>(inputs_.queries, std::array{rows_.b, rows_.h})) {
            return scores_of(Q->middleRows(rows_.first, rows_.count), K_transposed, aligned);
        }
        const TensorView rows = row_block(slice(inputs_.queries, std::array{rows_.b, rows_.h}), rows_.first, rows_.count);
        return scores_of(load_matrix<Scalar>(rows, {}), K_transposed, aligned);
    }

    [[nodiscard]] Matrix<Scalar> scores_of(const MatrixView<Scalar>& Q, const MatrixView<double>& K_transposed,
                                           const Matrix<Scalar>& aligned) const
    {
        if (options_.score == Score::additive) {
            const ScoreParameters& own = inputs_.score_parameters[static_cast<std::size_t>(rows_.h)];
            return additive_scores<Scalar>(project<Scalar>(Q, own.W_a, own.b_Wa, rounding_), aligned, own, rounding_);
        }
        if (options_.score == Score::general) {
            return core::scores<Scalar>(options_.score, Q, aligned.transpose().template cast<double>(), rounding_);
        }
        return core::scores<Scalar>(options_.score, Q, K_transposed, rounding_);
    }

    /// masked_scores = S + bias, -inf where masked; S itself without a mask.
    [[nodiscard]] Matrix<Scalar> masked(Matrix<Scalar> S)
    {
        if (!inputs_.masked(options_)) {
            return S;
        }
        if (has_bias(inputs_, options_)) {
            S = add_bias<Scalar>(S, bias());
        }
        S = mask<Scalar>(in_stage_digits(std::move(S)), seen_);
        keep(S, Stage::masked_scores);
        return S;
    }

    [[nodiscard]] Matrix<double> bias() const
    {
        const Index keys = keys_.end - keys_.begin;
        Matrix<double> values(rows_.count, keys);
        const BiasPlace place{rows_.b, rows_.h, rows_.first, rows_.count, keys_.begin, keys};
        (void)load_bias(inputs_, options_, place, values.data(), keys);
        return values;
    }

    [[nodiscard]] Scalar empty_row() const
    {
        return options_.nan_for_empty_rows ? std::numeric_limits<Scalar>::quiet_NaN() : Scalar{0};
    }

    [[nodiscard]] Scalar sink() const { return sink_of<Scalar>(inputs_, rows_.h); }

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

    const AttentionInputs& inputs_;
    const AttentionOptions& options_;
    const QueryRows& rows_;
    const PerStage<bool>& wanted_;
    Rounding rounding_;
    std::vector<KeyRange> seen_; ///< by each of the rows, of those that are computed
    KeyRange keys_;              ///< those that are computed
    BlockStages<Scalar> stages_;
};

} // namespace

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

template <typename Scalar>
BlockStages<Scalar> compute_block(const AttentionInputs& inputs, const AttentionOptions& options, const QueryRows& rows,
                                  const KeysAndValues& kv, const Matrix<Scalar>& aligned, const PerStage<bool>& wanted,
                                  Rounding rounding)
{
    return Block<Scalar>(inputs, options, rows, wanted, rounding).compute(kv, aligned);
}

Matrix<double> load_kept(const AttentionInputs& inputs, const QueryRows& rows)
{
    const TensorView of_head = slice(*inputs.kept, std::array{rows.b, rows.h});
    Matrix<double> kept(rows.count, of_head.shape[1]);
    for (Index i = 0; i < rows.count; ++i) {
        kept.row(i) = load_matrix<double>(row_block(of_head, place_of(inputs, rows.first + i), 1), {});
    }
    return kept;
}

template <typename Scalar>
Scalar sink_of(const AttentionInputs& inputs, Index h)
{
    return inputs.sinks.empty() ? minus_infinity<Scalar> : static_cast<Scalar>(inputs.sinks[static_cast<std::size_t>(h)]);
}

template <typename Scalar>
void store_rows(const Matrix<Scalar>& values, const QueryRows& rows, const StageSpan& to)
{
    for (Index i = 0; to.data != nullptr && i < rows.count; ++i) {
        const std::span<const Scalar> row(values.data() + i * values.cols(), static_cast<std::size_t>(values.cols()));
        to_bytes(to.type, row, to.at(rows.b, rows.h, rows.first + i));
    }
}

#define ATTN_INSTANTIATE(Scalar)                                                                                               \
    template KeysAndValues load_keys_and_values<Scalar>(const AttentionInputs&, Index, Index);                                 \
    template Matrix<Scalar> aligned_keys(const AttentionInputs&, Score, const Matrix<double>&, Index, Rounding);               \
    template BlockStages<Scalar> compute_block(const AttentionInputs&, const AttentionOptions&, const QueryRows&,              \
                                               const KeysAndValues&, const Matrix<Scalar>&, const PerStage<bool>&, Rounding);  \
    template Scalar sink_of<Scalar>(const AttentionInputs&, Index);                                                            \
    template void store_rows(const Matrix<Scalar>&, const QueryRows&, const StageSpan&);

ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

} // namespace attn::core
