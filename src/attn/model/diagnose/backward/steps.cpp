#include "attn/model/diagnose/backward/steps.hpp"

#include "attn/core/block.hpp"
#include "attn/core/portable/products.hpp"
#include "attn/math/elementary.hpp"
#include "attn/model/diagnose/distance.hpp"
#include "attn/model/diagnose/rounding.hpp"

#include <algorithm>

namespace attn::model::diagnose {
namespace {

using core::AttentionDims;
using Numbers = Matrix<double>;
using Vector = RowVector<double>;

HeadOperands load_operands(const Call& call, core::RowPlace at, Index g)
{
    const AttendViews& views = call.views;
    const AttentionDims& l = views.sizes;
    const core::KeysAndValues kv = core::load_keys_and_values<double>(views, at.b, g);
    HeadOperands in{.Q = load_matrix<double>(views.queries, std::array{at.b, at.h}),
                    .K = kv.K_transposed.transpose(),
                    .V = kv.V,
                    .dO = views.loss->context ? load_matrix<double>(*views.loss->context, std::array{at.b, at.h})
                                              : Numbers::Zero(l.T, l.d_v),
                    .kept = call.options.dropout ? core::load_kept(views, {at.b, at.h, 0, l.T}) : Numbers(),
                    .dlse = Vector::Zero(l.T)};
    for (Index i = 0; views.loss->lse && i < l.T; ++i) {
        in.dlse(i) = views.loss->lse->at(std::array{at.b, at.h, i});
    }
    return in;
}

Numbers multiply(const core::LeftFactor& A, const Numbers& B)
{
    Numbers C = Numbers::Zero(A.rows, B.cols());
    core::add_product(A, B, C);
    return C;
}

Numbers product_of_transposed(const Numbers& A, const Numbers& B)
{
    return multiply(core::transposed(A, 0, A.cols()), B);
}

void round_matrix(Numbers& numbers, Precision precision)
{
    round_all({numbers.data(), static_cast<std::size_t>(numbers.size())}, precision);
}

/// exp(x - lse) of what counts.
void exponentials(const ScoreRow& row, double lse, Eigen::Ref<Vector> to)
{
    to.setConstant(-infinity);
    for (Index j = 0; j < to.size() && lse != -infinity; ++j) {
        const auto at = static_cast<std::size_t>(j);
        to(j) = row.counted[at] != 0 ? row.scores[at] - lse : -infinity;
    }
    core::best_portable_kernels().exp(to.data(), to.size());
}

/// With `lse`, which is read, the weights are made again from it.
HeadForward forward_of(const Masking& masking, SharedProducts& shared, core::RowPlace at, const Vector* lse)
{
    const AttentionDims& l = masking.sizes;
    const Variant& v = masking.variant;
    const double scale = scale_of(masking.call, v);
    HeadForward made{.scaled = Numbers(l.T, l.S),
                     .weights = Numbers(l.T, l.S),
                     .lse = lse != nullptr ? *lse : Vector(l.T),
                     .largest = Vector(l.T),
                     .empty = std::vector<char>(static_cast<std::size_t>(l.T))};
    for (at.i = 0; at.i < l.T; ++at.i) {
        const ScoreRow row = score_row(masking, shared, at);
        const KeptNumbers products = shared.products(masking.call, v, at.b, at.h, at.i);
        made.scaled.row(at.i) = Eigen::Map<const Vector>(products->data(), l.S) * scale;
        made.empty[static_cast<std::size_t>(at.i)] = row.empty ? 1 : 0;
        made.largest(at.i) = row.largest();
        if (lse != nullptr) {
            exponentials(row, made.lse(at.i), made.weights.row(at.i));
        } else {
            made.lse(at.i) = log_of_sum(v, row, core::is_wide(masking.call.views));
            const std::vector<double> weights = weigh(masking.call, v, row, nullptr);
            made.weights.row(at.i) = Eigen::Map<const Vector>(weights.data(), l.S);
        }
    }
    return made;
}

/// Weights that the backward makes again, from lse as the variant stores and reads it.
HeadForward forward_made_again(const Masking& masking, SharedProducts& shared, core::RowPlace at, const HeadForward& right)
{
    Variant stored;
    stored.lse = masking.variant.lse;
    const ReadLse read = masking.variant.backward.lse;
    const Vector lse = read != nullptr               ? read(right)
                       : stored.lse == LseUse::right ? right.lse
                                                     : forward_of({masking.call, stored}, shared, at, nullptr).lse;
    return forward_of(masking, shared, at, &lse);
}

/// dx for scores before the cap.
Numbers before_cap(Numbers dx, const HeadForward& forward, double cap, CapSlope slope)
{
    for (Index n = 0; n < dx.size(); ++n) {
        const double ratio = forward.scaled.data()[n] / cap, tanh = math::tanh(ratio);
        dx.data()[n] *= slope != nullptr ? slope(ratio, tanh, cap) : 1 - tanh * tanh;
    }
    return dx;
}

/// M without the terms that an edit takes out.
Numbers summed(Numbers M, TermsEdit edit, const HeadSteps& steps)
{
    for (Index i = 0; i < M.rows() && edit != nullptr; ++i) {
        Eigen::Ref<Vector> terms = M.row(i);
        edit(terms, steps, i);
    }
    return M;
}

} // namespace

Numbers product(const Numbers& A, const Numbers& B)
{
    return multiply(core::columns_of(A, 0, A.cols()), B);
}

bool changes_forward(Variant v)
{
    v.backward = {};
    v.tile = 0; // what is tiled there changes more
    return v != Variant{};
}

Numbers HeadSteps::dropped(Numbers M) const
{
    const std::optional<core::Dropout>& dropout = masking.call.options.dropout;
    return dropout ? M.cwiseProduct(in.kept) / (1 - dropout->p) : std::move(M);
}

Vector HeadSteps::delta_of(const Numbers& context, Index width) const
{
    return context.leftCols(width).cwiseProduct(in.dO.leftCols(width)).rowwise().sum().transpose() - in.dlse;
}

RightHead right_head(CallPiece& piece, core::RowPlace at, Show wanted)
{
    const Variant right;
    const Masking masking(piece.call, right);
    RightHead head;
    head.in = load_operands(piece.call, at, key_head(masking.sizes, right.key_head, at.h));
    head.forward = forward_of(masking, piece.shared, at, nullptr);
    head.products = product(head.in.dO, head.in.V.transpose());
    head.gradients = differentiate_head(right, piece, head, at, wanted, {});
    return head;
}

HeadGradients differentiate_head(const Variant& v, CallPiece& piece, const RightHead& right, core::RowPlace at, Show wanted,
                                 const std::function<Vector()>& first_head)
{
    const Call& call = piece.call;
    const Backward& edit = v.backward;
    const Variant as_it_is;
    const Masking right_masking(call, as_it_is), masking(call, v);
    const Index g = key_head(masking.sizes, v.key_head, at.h);
    const bool other_keys = g != key_head(masking.sizes, KeyHead::repeated, at.h);
    const HeadOperands other = other_keys ? load_operands(call, at, g) : HeadOperands();
    const bool again = edit.alone || edit.lse != nullptr, is_edited = again || changes_forward(v);
    const HeadForward edited = again       ? forward_made_again(masking, piece.shared, at, right.forward)
                               : is_edited ? forward_of(masking, piece.shared, at, nullptr)
                                           : HeadForward();
    HeadSteps s{.masking = right_masking,
                .at = at,
                .tile = v.tile,
                .in = other_keys ? other : right.in,
                .forward = is_edited ? edited : right.forward,
                .stored = is_edited && !again ? edited : right.forward,
                .first_head = first_head};
    const auto after = [&s](StepEdit of_step) {
        if (of_step != nullptr) {
            of_step(s);
        }
    };
    s.W = s.forward.weights;
    after(edit.weights);
    s.products = other_keys ? product(s.in.dO, s.in.V.transpose()) : right.products;
    s.dW = s.dropped(s.products);
    after(edit.dweights);
    round_matrix(s.dW, edit.rounded_dweights);
    s.O = product(s.dropped(s.stored.weights), again ? right.in.V : s.in.V);
    round_matrix(s.O, edit.rounded_context);
    s.delta = s.delta_of(s.O, s.O.cols());
    after(edit.delta);
    s.dx = s.W.cwiseProduct(s.dW.colwise() - s.delta.transpose());
    after(edit.dmasked_scores);
    const std::optional<double> cap = v.cap == Cap::missing ? std::nullopt : call.options.softcap;
    s.ds = cap ? before_cap(s.dx, s.forward, *cap, edit.slope) : s.dx;
    HeadGradients made;
    made.scale = s.ds.cwiseProduct(s.forward.scaled).sum() / scale_of(call, v);
    round_matrix(s.ds, edit.rounded_dscores);
    s.D = s.dropped(s.W);
    after(edit.dropped_weights);
    round_matrix(s.D, edit.rounded_weights);

    made.dq = product(summed(s.ds, edit.over_keys, s), s.in.K);
    made.dk = product_of_transposed(summed(s.ds, edit.over_queries, s), s.in.Q);
    made.dv = product_of_transposed(summed(s.D, edit.over_queries, s), s.in.dO);
    const double sink = call.views.sinks.empty() ? -infinity : call.views.sinks[static_cast<std::size_t>(at.h)];
    for (Index i = 0; i < s.delta.size() && sink != -infinity && v.sink != SinkUse::missing; ++i) {
        made.sink -= s.forward.lse(i) == -infinity ? 0 : math::exp(sink - s.forward.lse(i)) * s.delta(i);
    }
    made.delta = std::move(s.delta);
    if (!wanted.without({Item::dq, Item::dk, Item::dv, Item::dpast_key, Item::dpast_value, Item::delta}).empty()) {
        made.dweights = std::move(s.dW);
        made.dmasked = std::move(s.dx);
        made.dscores = std::move(s.ds);
    }
    return made;
}

} // namespace attn::model::diagnose
