#include "attn/core/gradients.hpp"

#include "attn/core/block.hpp"
#include "attn/core/portable/products.hpp"
#include "attn/core/stages.hpp"
#include "attn/core/visibility.hpp"
#include "attn/math/elementary.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace attn::core {
namespace {

constexpr Index pieces_at_once = 8;   ///< of query rows, which threads share
constexpr Index rows_of_a_piece = 4;  ///< at least: fewer would read the keys more often than they are multiplied
constexpr Index keys_of_a_piece = 64; ///< that a thread adds up

void require_differentiable(const AttentionInputs& in, const AttentionOptions& options, const LossGradients& loss)
{
    require_shapes(in, options);
    const AttentionDims d = in.dims();
    const bool context = !loss.context || loss.context->shape == Shape{d.B, d.H, d.T, d.d_v};
    const bool lse = !loss.lse || loss.lse->shape == Shape{d.B, d.H, d.T};
    if (!context || !lse || !options.multiplies() || !in.score_parameters.empty() || options.mask_at != MaskAt::scaled) {
        throw Error(ErrorKind::internal, "attention_backward",
                    fmt::format("gradients {} and {} for queries {} and values {}, {} scores",
                                loss.context ? to_string(loss.context->shape) : "none",
                                loss.lse ? to_string(loss.lse->shape) : "none", to_string(in.queries.shape),
                                to_string(in.values.shape), function_of(options.score).name),
                    "(B, H, T, d_v) and (B, H, T), products of queries and keys, a mask behind the scale");
    }
}

/// C += A · B; with Rounding::step each sum is a float32 after every term.
void add_product_in(Rounding rounding, const LeftFactor& A, const MatrixView<double>& B, Eigen::Ref<Matrix<double>> C)
{
    if (rounding == Rounding::stage) {
        return add_product(A, B, C);
    }
    for (Index i = 0; i < A.rows; ++i) {
        RowVector<float> sums = C.row(i).cast<float>();
        for (Index k = 0; k < A.terms; ++k) {
            sums = (sums.cast<double>() + A.data[i * A.row_step + k * A.term_step] * B.row(k)).eval().cast<float>();
        }
        C.row(i) = sums.cast<double>();
    }
}

/// The same; where B is not finite without the terms whose factor is 0, so that what is hidden stays 0.
void add_seen_product(Rounding rounding, const LeftFactor& A, const MatrixView<double>& B, bool finite,
                      Eigen::Ref<Matrix<double>> C)
{
    if (finite) {
        return add_product_in(rounding, A, B, C);
    }
    for (Index i = 0; i < A.rows; ++i) {
        for (Index k = 0; k < A.terms; ++k) {
            const double a = A.data[i * A.row_step + k * A.term_step];
            if (a != 0) {
                C.row(i) += a * B.row(k);
            }
        }
    }
}

template <typename Scalar>
double rounded_to(double value)
{
    return static_cast<double>(static_cast<Scalar>(value));
}

/// Rounded to Scalar.
template <typename Scalar>
Matrix<double> load_rows(const TensorView& view, const QueryRows& rows)
{
    return load_matrix<Scalar>(row_block(slice(view, std::array{rows.b, rows.h}), rows.first, rows.count), {})
        .template cast<double>();
}

struct BackwardCall {
    const AttentionInputs& inputs;
    const AttentionOptions& options;
    const LossGradients& loss;
    const GradientOutputs& outputs;
    PerStage<bool> wanted; ///< of the forward
    double scale;
    Rounding rounding;
};

/// Of one query head.
struct HeadSums {
    double sink = 0, scale = 0;
    bool overflowed = false;
};

/// The gradient of a mask, as far as it has been added up.
struct MaskSums {
    MaskPlaces places;
    std::vector<double> sums;

    explicit MaskSums(const TensorView& mask) : places(mask), sums(static_cast<std::size_t>(places.count)) {}
};

/// What the query rows of one key/value head add up, and read.
template <typename Scalar>
class Group {
public:
    Group(const BackwardCall& call, Index b, Index g)
        : call_(call), b_(b), g_(g), sizes_(call.inputs.dims()), kv_(load_keys_and_values<Scalar>(call.inputs, b, g)),
          V_transposed_(kv_.V.transpose()), finite_(kv_.K_transposed.allFinite())
    {
        if (!call.wanted[Stage::head_context]) {
            kv_.V.resize(0, 0);
        }
        if (call.outputs[Gradient::dq].data != nullptr) {
            K_ = kv_.K_transposed.transpose();
        }
        dK_.setZero(sizes_.total(), sizes_.d_k);
        dV_.setZero(sizes_.total(), sizes_.d_v);
    }

    /// All rows of query head h, whose dk and dv are rounded by themselves where stages are rounded.
    void add_head(Index h, MaskSums* mask, HeadSums& sums, const Work& work)
    {
        const Index scores = pieces_at_once * scores_per_block;
        const Index at_once = std::max(scores / std::max<Index>(sizes_.total(), 1), rows_of_a_piece);
        const Index per_piece = std::max(at_once / pieces_at_once, rows_of_a_piece);
        const Work part{.threads = work.threads};
        const std::optional<ElementType> stage_type = call_.options.stage_type;
        Matrix<double> dK_before, dV_before;
        if (stage_type) {
            dK_before = std::exchange(dK_, Matrix<double>::Zero(dK_.rows(), dK_.cols()));
            dV_before = std::exchange(dV_, Matrix<double>::Zero(dV_.rows(), dV_.cols()));
        }
        for (Index first = 0; first < sizes_.T; first += at_once) {
            Rows rows(*this, {b_, h, first, std::min(at_once, sizes_.T - first)});
            for_each_block((rows.place.count + per_piece - 1) / per_piece, part, [&](Index piece) {
                const Index begin = piece * per_piece;
                rows.compute(begin, std::min(per_piece, rows.place.count - begin));
            });
            const Index keys = rows.keys.end - rows.keys.begin;
            for_each_block((keys + keys_of_a_piece - 1) / keys_of_a_piece, part, [&](Index piece) {
                const Index begin = rows.keys.begin + piece * keys_of_a_piece;
                const Index count = std::min(keys_of_a_piece, rows.keys.end - begin);
                add(transposed(rows.factors, begin, count), rows.dO, rows.finite, dV_.middleRows(begin, count));
                add(transposed(rows.dscores, begin, count), rows.Q, rows.finite, dK_.middleRows(begin, count));
            });
            for (Index i = 0; i < rows.place.count; ++i) {
                const auto at = static_cast<std::size_t>(i);
                sums.sink = in_steps(sums.sink - rows.sink[at]);
                sums.scale = in_steps(sums.scale + rows.scale[at]);
                sums.overflowed = sums.overflowed || rows.overflowed[at] != 0;
                if (mask != nullptr) {
                    double* row = mask->sums.data() + mask->places.row(b_, h, place_of(call_.inputs, first + i));
                    for (Index j = 0; j < call_.inputs.mask->shape[3]; ++j) {
                        row[j] = in_steps(row[j] + rows.dmasked(i, j));
                    }
                }
            }
            if (work.progress) {
                work.progress(static_cast<double>(first + rows.place.count) / static_cast<double>(sizes_.T));
            }
        }
        if (stage_type) {
            dK_ = dK_before + with_digits_of<double>(dK_, *stage_type);
            dV_ = dV_before + with_digits_of<double>(dV_, *stage_type);
        }
    }

    /// After all its heads.
    void store() const
    {
        const auto store_keys = [&](const Matrix<double>& sums, Index first, Index count, Gradient to) {
            for (Index done = 0; done < count; done += keys_of_a_piece) {
                const Index some = std::min(keys_of_a_piece, count - done);
                store_rows<Scalar>(sums.middleRows(first + done, some).template cast<Scalar>(), {b_, g_, done, some},
                                   call_.outputs[to]);
            }
        };
        store_keys(dK_, 0, sizes_.P, Gradient::dpast_key);
        store_keys(dK_, sizes_.P, sizes_.S, Gradient::dk);
        store_keys(dV_, 0, sizes_.P, Gradient::dpast_value);
        store_keys(dV_, sizes_.P, sizes_.S, Gradient::dv);
    }

private:
    /// Some query rows of a head: what sums over queries read of them.
    struct Rows {
        Rows(const Group& group, const QueryRows& its_place)
            : of(group), place(its_place), keys(seen()), Q(load_rows<Scalar>(of.call_.inputs.queries, place)),
              dO(of.call_.loss.context ? load_rows<Scalar>(*of.call_.loss.context, place)
                                       : Matrix<double>::Zero(place.count, of.sizes_.d_v)),
              finite(Q.allFinite() && dO.allFinite()), factors(place.count, of.sizes_.total()),
              dscores(place.count, of.sizes_.total()), dmasked(of.call_.outputs.mask ? place.count : 0, of.sizes_.total()),
              sink(static_cast<std::size_t>(place.count)), scale(sink.size()), overflowed(sink.size())
        {
        }

        /// Rows [begin, begin + count) of these.
        void compute(Index begin, Index count)
        {
            const BackwardCall& call = of.call_;
            const QueryRows rows{place.b, place.h, place.first + begin, count};
            const BlockStages<Scalar> stages =
                compute_block<Scalar>(call.inputs, call.options, rows, of.kv_, {}, call.wanted, call.rounding);
            std::fill_n(overflowed.begin() + begin, count, stages.overflowed ? 1 : 0);
            const Matrix<Scalar> dweights = dweights_of(rows, dO.middleRows(begin, count));
            store_rows(dweights, rows, call.outputs[Gradient::dweights]);
            const Matrix<Scalar> delta = call.options.stage_type
                                             ? delta_of(rows, of.in_stage_digits(stages[Stage::head_context]),
                                                        dO.middleRows(begin, count).template cast<Scalar>())
                                             : delta_of(rows, stages[Stage::weights], dweights);
            store_rows(delta, rows, call.outputs[Gradient::delta]);

            // dmasked_scores = W ∘ (dweights - delta)
            Matrix<Scalar> d = of_seen(stages[Stage::weights], [&](Index i, Index j) {
                return static_cast<double>(stages[Stage::weights](i, j)) *
                       (static_cast<double>(dweights(i, j)) - static_cast<double>(delta(i, 0)));
            });
            d = of.in_stage_digits(std::move(d));
            store_rows(d, rows, call.outputs[Gradient::dmasked_scores]);
            if (call.outputs.mask) {
                dmasked.middleRows(begin, count) = d.template cast<double>();
            }
            if (call.options.softcap) { // dscaled_scores = dmasked_scores ∘ (1 - (capped_scores / c)²)
                const double cap = *call.options.softcap;
                d = of_seen(d, [&](Index i, Index j) {
                    const double tanh = math::tanh(static_cast<double>(stages[Stage::scaled_scores](i, j)) / cap);
                    return static_cast<double>(d(i, j)) * (1 - tanh * tanh); // of rounded capped scores, it would never be 0
                });
            }
            for (Index i = 0; i < count; ++i) {
                scale[static_cast<std::size_t>(begin + i)] = of.sum_of_seen(d.row(i), stages[Stage::scores].row(i));
            }
            d = (d.template cast<double>() * call.scale).template cast<Scalar>(); // dscores = dscaled_scores · scale
            d = of.in_stage_digits(std::move(d));
            store_rows(d, rows, call.outputs[Gradient::dscores]);
            dscores.middleRows(begin, count) = d.template cast<double>();
            factors.middleRows(begin, count) = stages.factors.template cast<double>();
            store_dq(rows, begin);
            for (Index i = 0; i < count && !call.inputs.sinks.empty(); ++i) {
                const auto lse = static_cast<double>(stages[Stage::lse](i, 0));
                const auto own = static_cast<double>(sink_of<Scalar>(call.inputs, place.h));
                const bool has_weight = own != minus_infinity<double>;
                sink[static_cast<std::size_t>(begin + i)] =
                    has_weight ? math::exp(own - lse) * static_cast<double>(delta(i, 0)) : 0;
            }
        }

        const Group& of;
        QueryRows place;
        KeyRange keys; ///< others are not seen by any of them
        Matrix<double> Q, dO;
        bool finite;                     ///< both
        Matrix<double> factors, dscores; ///< (count, P+S)
        Matrix<double> dmasked;          ///< likewise, where the mask has a gradient
        std::vector<double> sink, scale; ///< (count)
        std::vector<char> overflowed;    ///< (count)

    private:
        [[nodiscard]] KeyRange seen() const
        {
            KeyRange hull{of.sizes_.total(), 0};
            for (Index i = place.first; i < place.first + place.count; ++i) {
                const KeyRange own = visible_keys(of.call_.inputs, of.call_.options, place.b, i);
                hull = {std::min(hull.begin, own.begin), std::max(hull.end, own.end)};
            }
            hull.begin = std::min(hull.begin, hull.end);
            return hull;
        }

        /// dO·Vᵀ, · kept / (1 - p) with dropout; of hidden keys where it is asked for.
        [[nodiscard]] Matrix<Scalar> dweights_of(const QueryRows& rows, const Matrix<double>& its_dO) const
        {
            const BackwardCall& call = of.call_;
            const bool all = call.outputs[Gradient::dweights].data != nullptr;
            const Index first = all ? 0 : keys.begin, count = all ? of.sizes_.total() : keys.end - keys.begin;
            Matrix<double> sums = Matrix<double>::Zero(rows.count, of.sizes_.total());
            add_product_in(call.rounding, columns_of(its_dO, 0, its_dO.cols()), of.V_transposed_.middleCols(first, count),
                           sums.middleCols(first, count));
            Matrix<Scalar> dweights = sums.template cast<Scalar>();
            if (call.options.dropout) {
                dweights = drop<Scalar>(dweights, load_kept(call.inputs, rows), call.options.dropout->p);
            }
            return of.in_stage_digits(std::move(dweights));
        }

        /// Σ_j A_ij · B_ij - dlse_i, of weights and dweights, or of context and dO
        [[nodiscard]] Matrix<Scalar> delta_of(const QueryRows& rows, const Matrix<Scalar>& A, const Matrix<Scalar>& B) const
        {
            Matrix<Scalar> delta(rows.count, 1);
            for (Index i = 0; i < rows.count; ++i) {
                const std::optional<TensorView>& lse = of.call_.loss.lse;
                const double dlse = lse ? rounded_to<Scalar>(lse->at(std::array{rows.b, rows.h, rows.first + i})) : 0;
                delta(i, 0) = static_cast<Scalar>(of.sum_of_seen(A.row(i), B.row(i)) - dlse);
            }
            return delta;
        }

        void store_dq(const QueryRows& rows, Index begin) const
        {
            if (of.call_.outputs[Gradient::dq].data == nullptr) {
                return;
            }
            Matrix<double> dQ = Matrix<double>::Zero(rows.count, of.sizes_.d_k);
            const Index count = keys.end - keys.begin;
            const Matrix<double> own = dscores.middleRows(begin, rows.count);
            of.add(columns_of(own, keys.begin, count), of.K_.middleRows(keys.begin, count), of.finite_, dQ);
            store_rows<Scalar>(dQ.template cast<Scalar>(), rows, of.call_.outputs[Gradient::dq]);
        }

        /// f(i, j) where the weight or gradient is not 0; 0 elsewhere.
        template <typename Function>
        static Matrix<Scalar> of_seen(const Matrix<Scalar>& values, const Function& f)
        {
            Matrix<Scalar> made(values.rows(), values.cols());
            for (Index i = 0; i < values.rows(); ++i) {
                for (Index j = 0; j < values.cols(); ++j) {
                    made(i, j) = values(i, j) != 0 ? static_cast<Scalar>(f(i, j)) : Scalar{0};
                }
            }
            return made;
        }
    };

    [[nodiscard]] Matrix<Scalar> in_stage_digits(Matrix<Scalar> values) const
    {
        return call_.options.stage_type ? with_digits_of<Scalar>(values, *call_.options.stage_type) : values;
    }

    void add(const LeftFactor& A, const MatrixView<double>& B, bool finite, const Eigen::Ref<Matrix<double>>& C) const
    {
        add_seen_product(call_.rounding, A, B, finite, C);
    }

    /// What is left of a sum before its next term comes.
    [[nodiscard]] double in_steps(double sum) const { return call_.rounding == Rounding::step ? rounded_to<float>(sum) : sum; }

    /// Σ a·b of the places where a is not 0.
    [[nodiscard]] double sum_of_seen(const RowVector<Scalar>& a, const RowVector<Scalar>& b) const
    {
        double sum = 0;
        for (Index j = 0; j < a.size(); ++j) {
            sum = in_steps(sum + (a(j) != 0 ? static_cast<double>(a(j)) * static_cast<double>(b(j)) : 0));
        }
        return sum;
    }

    const BackwardCall& call_;
    Index b_, g_;
    AttentionDims sizes_;
    KeysAndValues kv_;            ///< V only where stages are rounded
    Matrix<double> V_transposed_; ///< (d_v, P+S)
    bool finite_;                 ///< K
    Matrix<double> K_;            ///< (P+S, d_k), for dq
    Matrix<double> dK_, dV_;      ///< (P+S, d_k), (P+S, d_v)
};

template <typename Scalar>
GradientSums backward(const BackwardCall& call, const Work& work)
{
    const AttentionDims d = call.inputs.dims();
    const Index group = d.H / d.H_kv, groups = d.B * d.H_kv;
    auto mask = call.outputs.mask ? std::optional(MaskSums(*call.inputs.mask)) : std::nullopt;
    std::vector<HeadSums> heads(static_cast<std::size_t>(d.B * d.H)); // (B, H), added up at the end
    const auto add_group = [&](Index index, const Work& part) {
        const Index b = index / d.H_kv, g = index % d.H_kv;
        Group<Scalar> of(call, b, g);
        for (Index h = g * group; h < (g + 1) * group; ++h) {
            const auto at = static_cast<std::size_t>(b * d.H + h);
            of.add_head(h, mask ? &*mask : nullptr, heads[at], part.piece(h - g * group, group));
        }
        of.store();
    };
    if (groups >= work.threads && !mask) { // every sum stays within a group
        for_each_block(groups, work, [&](Index index) { add_group(index, {}); });
    } else {
        for (Index index = 0; index < groups; ++index) {
            add_group(index, work.piece(index, groups));
        }
    }
    GradientSums sums;
    sums.sinks.resize(call.inputs.sinks.size());
    for (std::size_t at = 0; at < heads.size(); ++at) {
        if (!sums.sinks.empty()) {
            sums.sinks[at % sums.sinks.size()] += heads[at].sink;
        }
        sums.scale += heads[at].scale;
        sums.overflowed = sums.overflowed || heads[at].overflowed;
    }
    if (mask) {
        sums.mask = std::move(mask->sums);
    }
    return sums;
}

} // namespace

MaskPlaces::MaskPlaces(const TensorView& mask)
{
    if (mask.count() == 0) { // its strides say nothing
        return;
    }
    count = mask.shape[3];
    for (std::size_t axis = steps.size(); axis-- > 0;) {
        const bool repeated = mask.strides[axis] == 0;
        steps.at(axis) = repeated ? 0 : count;
        count *= repeated ? 1 : mask.shape[axis];
        repeats *= repeated ? mask.shape[axis] : 1;
    }
}

GradientSums attention_backward(const AttentionInputs& inputs, const AttentionOptions& options, const LossGradients& loss,
                                const GradientOutputs& outputs, const Work& work)
{
    require_differentiable(inputs, options, loss);
    AttentionOptions forward = options;
    forward.nan_for_empty_rows = false; // what stands in for a context depends on nothing
    const double usual = 1 / std::sqrt(static_cast<double>(inputs.dims().d_k));
    const Rounding rounding = options.stage_type == ElementType::float32 ? Rounding::step : Rounding::stage;
    BackwardCall call{inputs, forward, loss, outputs, {}, options.factor().value_or(usual), rounding};
    call.wanted[Stage::scores] = true;
    call.wanted[Stage::scaled_scores] = options.softcap.has_value();
    call.wanted[Stage::weights] = true;
    call.wanted[Stage::lse] = !inputs.sinks.empty();
    call.wanted[Stage::head_context] = options.stage_type.has_value();
    return is_wide(inputs) ? backward<double>(call, work) : backward<float>(call, work);
}

} // namespace attn::core
