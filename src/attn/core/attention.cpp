#include "attn/core/attention.hpp"

#include "attn/core/parallel.hpp"
#include "attn/core/stages.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>

namespace attn::core {
namespace {

/// About how many scores a block holds: a few hundred KiB a stage, whatever the length of the sequence.
constexpr Index scores_per_block = 32768;

/// Multiplications that are done before a second thread has started.
constexpr double worth_a_thread = 1e6;

template <typename Scalar>
void require_shapes(const Heads<Scalar>& heads)
{
    const Shape& q = heads.queries.shape;
    const Shape& k = heads.keys.shape;
    const Shape& v = heads.values.shape;
    const bool ranks = q.size() == 3 && k.size() == 3 && v.size() == 3;
    const bool sizes = ranks && q[2] == k[2] && k[0] == v[0] && k[1] == v[1] && k[0] != 0 && q[0] % k[0] == 0;
    const Shape m = heads.mask ? heads.mask->shape : Shape{};
    const bool mask_fits = !heads.mask || (sizes && m.size() == 3 && m[0] == q[0] && m[1] == q[1] && m[2] <= k[1]);
    if (!sizes || !mask_fits || heads.query_positions.size() != static_cast<std::size_t>(q[1])) {
        throw Error(
            ErrorKind::internal, "attention",
            "queries " + to_string(q) + ", keys " + to_string(k) + ", values " + to_string(v) + ", " +
                std::to_string(heads.query_positions.size()) + " query positions, mask " + to_string(m),
            "(H, T, d_k), (H_kv, S, d_k), (H_kv, S, d_v) with H a multiple of H_kv, T positions, a mask (H, T, up to S)");
    }
}

/// What the query rows of one head read.
struct KeysAndValues {
    Matrix<double> K_transposed; ///< (d_k, S)
    Matrix<double> V;            ///< (S, d_v)
};

/// Rows [first, first + count) of query head h, through all stages.
template <typename Scalar>
class Block {
public:
    Block(const Heads<Scalar>& heads, const AttentionOptions& options, Index h, Index first, Index count)
        : heads_(heads), options_(options), h_(h), first_(first), count_(count)
    {
    }

    /// Writes its rows of every stage that was kept.
    void compute(const KeysAndValues& kv, Stages<Scalar>& stages, std::atomic<bool>& overflowed) const
    {
        const auto Q = heads_.queries.matrix(h_).middleRows(first_, count_);
        const Rounding rounding = options_.rounding;

        Matrix<Scalar> S = scores<Scalar>(Q, kv.K_transposed, rounding); // scores = Q·Kᵀ
        store(S, stages.scores);
        S = scale<Scalar>(S, options_.scale, Q.cols(), rounding); // scaled_scores = scores · scale
        if (!S.allFinite()) {                                     // what overflowed before the scaling has stayed so
            overflowed = true;
        }
        store(S, stages.scaled_scores);
        if (options_.softcap) {
            S = softcap<Scalar>(S, *options_.softcap, rounding); // capped_scores = c · tanh(scaled_scores / c)
            store(S, stages.capped_scores);
        }
        if (heads_.masked(options_)) { // masked_scores = capped_scores + mask, -inf where masked
            if (heads_.mask || !options_.slopes.empty()) {
                S = add_bias<Scalar>(S, bias(S.cols()));
            }
            S = mask<Scalar>(S, options_, heads_.query_positions.data() + first_);
            store(S, stages.masked_scores);
        }
        const Matrix<Scalar> W = weights(S);
        store(W, stages.weights);
        store(weighted_sum<Scalar>(W, kv.V, rounding), stages.head_context); // head_context = weights · V
        if (!stages.entropy.values.empty()) {
            stages.entropy.matrix().row(h_).segment(first_, count_) = entropy<Scalar>(W);
        }
        if (W.cols() == 0) { // every row is empty, and has no weight that could say so
            stages.head_context.matrix(h_).middleRows(first_, count_).setConstant(empty_row());
            if (!stages.entropy.values.empty()) {
                stages.entropy.matrix().row(h_).segment(first_, count_).setConstant(empty_row());
            }
        }
    }

private:
    /// What is added to the scores, (rows, ≤ keys): the mask's rows, 0 or -inf for a boolean one, and the distance.
    [[nodiscard]] Matrix<double> bias(Index keys) const
    {
        Matrix<double> values = heads_.mask ? mask_rows() : Matrix<double>::Zero(count_, keys);
        if (!options_.slopes.empty()) {
            const double slope = options_.slopes[static_cast<std::size_t>(h_)];
            for (Index i = 0; i < values.rows(); ++i) {
                const Index position = heads_.query_positions[static_cast<std::size_t>(first_ + i)];
                for (Index j = 0; j < values.cols(); ++j) {
                    values(i, j) -= slope * static_cast<double>(std::abs(position - j));
                }
            }
        }
        return values;
    }

    [[nodiscard]] Matrix<double> mask_rows() const
    {
        const TensorView rows = row_block(*heads_.mask, first_, count_);
        Matrix<double> values = load_matrix<double>(rows, std::array{h_});
        if (rows.type == ElementType::boolean) {
            values = values.unaryExpr([](double seen) { return seen != 0 ? 0 : -std::numeric_limits<double>::infinity(); });
        }
        return values;
    }

    [[nodiscard]] Scalar empty_row() const
    {
        return options_.nan_for_empty_rows ? std::numeric_limits<Scalar>::quiet_NaN() : Scalar{0};
    }

    [[nodiscard]] Matrix<Scalar> weights(const Matrix<Scalar>& masked) const
    {
        const Scalar empty = empty_row();
        if (!options_.softmax_type) {
            return softmax<Scalar>(masked, empty, options_.rounding);
        }
        const ElementType type = *options_.softmax_type;
        return rounded<Scalar>(softmax<Scalar>(rounded<Scalar>(masked, type), empty, options_.rounding), type);
    }

    void store(const Matrix<Scalar>& rows, Tensor<Scalar>& stage) const
    {
        if (!stage.values.empty()) {
            stage.matrix(h_).middleRows(first_, count_) = rows;
        }
    }

    const Heads<Scalar>& heads_;
    const AttentionOptions& options_;
    Index h_, first_, count_;
};

} // namespace

template <typename Scalar>
Stages<Scalar> make_stages(const Heads<Scalar>& heads, const AttentionOptions& options, const Keep& keep)
{
    require_shapes(heads);
    const Index H = heads.queries.shape[0];
    const Index T = heads.queries.shape[1];
    const Index S = heads.keys.shape[1];
    Stages<Scalar> stages;
    const auto allot = [](bool kept, Tensor<Scalar>& tensor, const Shape& shape) {
        if (kept) {
            tensor = Tensor<Scalar>(shape);
        }
    };
    allot(keep.scores, stages.scores, {H, T, S});
    allot(keep.scaled_scores, stages.scaled_scores, {H, T, S});
    allot(keep.capped_scores && options.softcap, stages.capped_scores, {H, T, S});
    allot(keep.masked_scores && heads.masked(options), stages.masked_scores, {H, T, S});
    allot(keep.weights, stages.weights, {H, T, S});
    allot(keep.entropy, stages.entropy, {H, T});
    allot(true, stages.head_context, {H, T, heads.values.shape[2]});
    return stages;
}

template <typename Scalar>
Stages<Scalar> attention(const Heads<Scalar>& heads, const AttentionOptions& options, const Keep& keep, const Work& work)
{
    Stages<Scalar> stages = make_stages(heads, options, keep);
    const Index T = heads.queries.shape[1];
    const Index S = heads.keys.shape[1];
    const Index d_k = heads.queries.shape[2];
    const Index d_v = heads.values.shape[2];
    const Index group = heads.queries.shape[0] / heads.keys.shape[0];

    const Index rows = std::clamp<Index>(scores_per_block / std::max<Index>(S, 1), 1, std::max<Index>(T, 1));
    const Index blocks = (T + rows - 1) / rows;
    std::atomic<bool> overflowed = false;

    for (Index kv_head = 0; kv_head < heads.keys.shape[0]; ++kv_head) {
        const KeysAndValues kv{heads.keys.matrix(kv_head).template cast<double>().transpose(),
                               heads.values.matrix(kv_head).template cast<double>()};
        Work part = work;
        if (work.progress) {
            part.progress = [&](double share) {
                work.progress((static_cast<double>(kv_head) + share) / static_cast<double>(heads.keys.shape[0]));
            };
        }
        const double multiplications = static_cast<double>(group * T) * static_cast<double>(S) * static_cast<double>(d_k + d_v);
        if (multiplications < worth_a_thread) {
            part.threads = 1;
        }
        for_each_block(group * blocks, part, [&](Index index) {
            const Index h = kv_head * group + index / blocks;
            const Index first = index % blocks * rows;
            Block<Scalar>(heads, options, h, first, std::min(rows, T - first)).compute(kv, stages, overflowed);
        });
    }
    stages.overflowed = overflowed;
    return stages;
}

template Stages<float> make_stages(const Heads<float>&, const AttentionOptions&, const Keep&);
template Stages<double> make_stages(const Heads<double>&, const AttentionOptions&, const Keep&);
template Stages<float> attention(const Heads<float>&, const AttentionOptions&, const Keep&, const Work&);
template Stages<double> attention(const Heads<double>&, const AttentionOptions&, const Keep&, const Work&);

} // namespace attn::core
