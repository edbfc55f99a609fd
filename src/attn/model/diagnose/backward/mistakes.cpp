#include "attn/model/diagnose/backward/mistakes.hpp"

#include "attn/model/diagnose/backward/pass.hpp"
#include "attn/model/diagnose/seen_in_public.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace attn::model::diagnose {
namespace {

using C = Call;

// ---- where a mistake can be made -------------------------------------------------------------------------------------------

constexpr auto always = [](const C&) { return true; };
constexpr auto in_softcap = [](const C& c) { return c.options.softcap.has_value(); };
constexpr auto in_dropout = [](const C& c) { return c.options.dropout.has_value(); };
constexpr auto in_sinks = [](const C& c) { return !c.views.sinks.empty(); };
constexpr auto in_lse = [](const C& c) { return c.views.loss->lse.has_value(); };
constexpr auto in_scale = [](const C& c) { return c.options.scale != 1; };
constexpr auto in_heads = [](const C& c) { return c.views.sizes.H > 1; };
constexpr auto in_groups = [](const C& c) { return c.views.sizes.H > c.views.sizes.H_kv; };
constexpr auto in_key_heads = [](const C& c) { return in_groups(c) && c.views.sizes.H_kv > 1; };
constexpr auto in_wide_values = [](const C& c) { return c.views.sizes.d_v > c.views.sizes.d_k; };
constexpr auto in_other_values = [](const C& c) { return c.views.sizes.d_v != c.views.sizes.d_k && !c.options.scale; };
constexpr auto in_equal_sizes = [](const C& c) { return c.views.sizes.d_v == c.views.sizes.d_k && c.views.sizes.P == 0; };
constexpr auto in_equal_rows = [](const C& c) { return c.is_square() && !in_groups(c); };
constexpr auto in_causal = [](const C& c) { return c.options.causal; };
constexpr auto in_placed = [](const C& c) { return c.options.causal || c.options.window; };
constexpr auto in_masked = [](const C& c) {
    return in_placed(c) || !c.views.lengths.empty() || c.views.mask || c.views.segments;
};
constexpr auto in_mask = [](const C& c) { return c.views.mask && c.views.mask->type != ElementType::boolean; };
constexpr auto in_memory = [](const C& c) { return in_heads(c) && c.views.sizes.P == 0 && !c.sequences; };

// ---- edits -----------------------------------------------------------------------------------------------------------------

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using core::AttentionDims;
using core::KeyRange;
using Steps = HeadSteps;
using Terms = Eigen::Ref<RowVector<double>>;

constexpr GradientFactor nothing = [](double, const AttentionDims&) { return 0.0; };
constexpr GradientFactor negated = [](double, const AttentionDims&) { return -1.0; };
constexpr GradientFactor unscaled = [](double scale, const AttentionDims&) { return 1 / scale; };
constexpr GradientFactor scaled = [](double scale, const AttentionDims&) { return scale; };
constexpr GradientFactor log2_e = [](double, const AttentionDims&) { return std::numbers::log2e; };
constexpr GradientFactor ln_2 = [](double, const AttentionDims&) { return std::numbers::ln2; };
constexpr GradientFactor of_value_size = [](double, const AttentionDims& l) {
    return std::sqrt(static_cast<double>(l.d_k) / static_cast<double>(l.d_v));
};

/// δ of query place(i) in place of that of i; 0 where there is none.
template <typename Place>
void take_delta(Steps& s, const Place& place)
{
    const RowVector<double> own = s.delta;
    for (Index i = 0; i < own.size(); ++i) {
        s.delta(i) = place(i) >= 0 ? own(place(i)) : 0;
    }
}

/// Over the first d_k of the d_v numbers of values.
RowVector<double> narrow_delta(const Steps& s)
{
    return s.delta_of(s.O, std::min(s.in.K.cols(), s.O.cols()));
}

Matrix<double> narrow_dweights(const Steps& s)
{
    const Index width = std::min(s.in.K.cols(), s.in.V.cols());
    return s.dropped(product(s.in.dO.leftCols(width), s.in.V.leftCols(width).transpose()));
}

/// Calls use(i) for queries that see no key.
template <typename Use>
void for_empty(const Steps& s, const Use& use)
{
    for (std::size_t i = 0; i < s.forward.empty.size(); ++i) {
        if (s.forward.empty[i] != 0) {
            use(static_cast<Index>(i));
        }
    }
}

/// Where the last tile begins, whether it is full or not.
Index last_tile(Index end, Index tile)
{
    return end > 0 ? (end - 1) / tile * tile : 0;
}

void keep(Terms& terms, KeyRange kept)
{
    terms.head(kept.begin).setZero();
    terms.tail(terms.size() - kept.end).setZero();
}

/// The first or the last tile of keys that causal, window and lengths let a query see that is in the same tile as i.
KeyRange tile_reached(const Steps& s, Index i, bool last)
{
    const Call& call = s.masking.call;
    const Index all = s.masking.sizes.S, end = end_of_keys(s.masking, s.at.b);
    KeyRange reached{all, 0};
    for (Index n = i / s.tile * s.tile; n < std::min(i / s.tile * s.tile + s.tile, s.masking.sizes.T); ++n) {
        const KeyRange own = core::visible_keys(call.options, core::position_of(call.views, s.at.b, n), end);
        reached = own.begin < own.end ? KeyRange{std::min(reached.begin, own.begin), std::max(reached.end, own.end)} : reached;
    }
    if (reached.begin >= reached.end) {
        return {0, 0};
    }
    const Index first = (last ? reached.end - 1 : reached.begin) / s.tile * s.tile;
    return {first, std::min(first + s.tile, all)};
}

// Which terms are in a sum.

constexpr TermsEdit last_reached = [](Terms& terms, const Steps& s, Index i) { keep(terms, tile_reached(s, i, true)); };
constexpr TermsEdit first_reached = [](Terms& terms, const Steps& s, Index i) { keep(terms, tile_reached(s, i, false)); };
constexpr TermsEdit without_last_keys = [](Terms& terms, const Steps& s, Index) {
    keep(terms, {0, last_tile(end_of_keys(s.masking, s.at.b), s.tile)});
};
constexpr TermsEdit last_queries = [](Terms& terms, const Steps& s, Index i) {
    keep(terms, {0, i < last_tile(s.W.rows(), s.tile) ? 0 : terms.size()});
};
constexpr TermsEdit without_last_queries = [](Terms& terms, const Steps& s, Index i) {
    keep(terms, {0, i < last_tile(s.W.rows(), s.tile) ? terms.size() : 0});
};
/// Without a query that stands among the keys of their tile.
constexpr TermsEdit without_diagonal = [](Terms& terms, const Steps& s, Index i) {
    const Index place = core::position_of(s.masking.call.views, s.at.b, i);
    const Index first = (place >= 0 ? place / s.tile : -((s.tile - 1 - place) / s.tile)) * s.tile;
    const Index begin = std::clamp<Index>(first, 0, terms.size()), end = std::clamp<Index>(first + s.tile, 0, terms.size());
    terms.segment(begin, end - begin).setZero();
};

/// Keys come in tiles half as large, each of which begins with the tile of queries behind the one that sees its first key.
constexpr TermsEdit begun_late = [](Terms& terms, const Steps& s, Index i) {
    const Index offset = core::position_of(s.masking.call.views, s.at.b, i) - i, half = s.tile / 2;
    for (Index j = 0; j < terms.size(); ++j) {
        const Index first = std::max<Index>(j / half * half - offset, 0);
        terms(j) = i < (first + s.tile - 1) / s.tile * s.tile ? 0 : terms(j);
    }
};

constexpr Change at(StepEdit Backward::*step, StepEdit edit)
{
    return {step, edit};
}

struct Row {
    std::string_view name, what, advice;
    Change change;
    bool (*applies)(const C&);
    bool tiled = false;
};

constexpr std::string_view scale_once = "multiply once by the scale: dq = scale·dscores·K, dk = scale·dscoresᵀ·Q";
constexpr std::string_view from_context = "delta = Σ dO·O over the numbers of a query's context, before the products";
constexpr std::string_view sum_heads = "sum dk and dv over the query heads h with h / (H / H_kv) = g";
constexpr std::string_view sum_keys = "add every tile of keys to dq: it begins with zeros, and no tile overwrites it";
constexpr std::string_view sum_queries = "add every tile of queries to dk and dv, also the last, partial one";
constexpr std::string_view in_float32 = "keep it in float32 until the product";

constexpr std::array list{
    // ---- the scale
    Row{"dq-scale-missing", "dq without the scale", scale_once, [](Variant& v) { v.backward.dq = unscaled; }, in_scale},
    Row{"dk-scale-missing", "dk without the scale", scale_once, [](Variant& v) { v.backward.dk = unscaled; }, in_scale},
    Row{"dq-dk-scale-missing", "dq and dk without the scale", scale_once,
        [](Variant& v) { v.backward.dq = v.backward.dk = unscaled; }, in_scale},
    Row{"dq-scale-twice", "dq times the scale twice", scale_once, [](Variant& v) { v.backward.dq = scaled; }, in_scale},
    Row{"dk-scale-twice", "dk times the scale twice (of queries that were scaled before)", scale_once,
        [](Variant& v) { v.backward.dk = scaled; }, in_scale},
    Row{"dq-dk-scale-twice", "dq and dk times the scale twice", scale_once,
        [](Variant& v) { v.backward.dq = v.backward.dk = scaled; }, in_scale},
    Row{"dv-scaled", "dv times the scale", "the scale belongs to dq and dk", [](Variant& v) { v.backward.dv = scaled; },
        in_scale},
    Row{"dq-dk-scale-of-values", "dq and dk with the scale 1/√d_v", "the scale is 1/√d_k, also in the backward",
        [](Variant& v) { v.backward.dq = v.backward.dk = of_value_size; }, in_other_values},
    Row{"dq-log2e", "dq times log2(e): ln 2 missing", "keys that hold log2(e) for exp2 need ln 2 in dq",
        [](Variant& v) { v.backward.dq = log2_e; }, always},
    Row{"dk-log2e", "dk times log2(e): ln 2 missing", "queries that hold log2(e) for exp2 need ln 2 in dk",
        [](Variant& v) { v.backward.dk = log2_e; }, always},
    Row{"dq-dk-log2e", "dq and dk times log2(e): ln 2 missing", "what holds log2(e) for exp2 needs ln 2 in the gradient",
        [](Variant& v) { v.backward.dq = v.backward.dk = log2_e; }, always},
    Row{"dq-ln2", "dq times ln 2, without log2(e) in the keys", "take ln 2 only where log2(e) was multiplied in",
        [](Variant& v) { v.backward.dq = ln_2; }, always},
    Row{"dk-ln2", "dk times ln 2, without log2(e) in the queries", "take ln 2 only where log2(e) was multiplied in",
        [](Variant& v) { v.backward.dk = ln_2; }, always},
    Row{"gradients-negated", "all gradients negated", "a loss falls against its gradient, which itself is not negated",
        [](Variant& v) { v.backward.dq = v.backward.dk = v.backward.dv = v.backward.dsinks = negated; }, always},
    Row{"dq-dk-negated", "dq and dk negated", "dmasked_scores = weights·(dweights - delta), not the other way round",
        [](Variant& v) { v.backward.dq = v.backward.dk = negated; }, always},
    Row{"dq-negated", "dq alone negated", "dq = scale·dscores·K", [](Variant& v) { v.backward.dq = negated; }, always},
    Row{"dk-negated", "dk alone negated", "dk = scale·dscoresᵀ·Q", [](Variant& v) { v.backward.dk = negated; }, always},
    Row{"dv-negated", "dv alone negated", "dv = weightsᵀ·dO", [](Variant& v) { v.backward.dv = negated; }, always},
    // ---- delta, and the softmax's derivative
    Row{"delta-missing", "no delta: dmasked_scores = weights·dweights", from_context,
        at(&Backward::delta, [](Steps& s) { s.delta.setZero(); }), always},
    Row{"delta-added", "delta added: dmasked_scores = weights·(dweights + delta)", "subtract delta",
        at(&Backward::delta, [](Steps& s) { s.delta = -s.delta; }), always},
    Row{"delta-stale", "delta of the first tile of queries in every tile", "load delta anew for every tile of queries",
        at(&Backward::delta, [](Steps& s) { take_delta(s, [&](Index i) { return i % s.tile; }); }), always, true},
    Row{"delta-tile-before", "delta of the tile of queries before", "load delta before it is used, not after",
        at(&Backward::delta, [](Steps& s) { take_delta(s, [&](Index i) { return i - s.tile; }); }), always, true},
    Row{"delta-first-head", "delta of head 0 for all", "delta is (B, H, T): step by T from head to head",
        at(&Backward::delta, [](Steps& s) { s.delta = s.at.h > 0 ? s.first_head() : s.delta; }), in_heads},
    Row{"delta-d-k", "delta summed over the first d_k numbers of the context", "delta sums over all d_v numbers",
        at(&Backward::delta, [](Steps& s) { s.delta = narrow_delta(s); }), in_wide_values},
    Row{"delta-undropped", "delta of the context without dropout", "delta comes from the context that dropout was at",
        at(&Backward::delta, [](Steps& s) { s.delta = s.delta_of(product(s.stored.weights, s.in.V), s.O.cols()); }),
        in_dropout},
    Row{"dlse-ignored", "the gradient of lse ignored", "subtract it from delta",
        at(&Backward::delta, [](Steps& s) { s.delta += s.in.dlse; }), in_lse},
    Row{"dlse-added", "the gradient of lse added to delta", "subtract it from delta",
        at(&Backward::delta, [](Steps& s) { s.delta += 2 * s.in.dlse; }), in_lse},
    Row{"softmax-diagonal", "the diagonal of the softmax's derivative alone: weights·(1 - weights)·dweights",
        "dmasked_scores = weights·(dweights - delta)",
        at(&Backward::dmasked_scores, [](Steps& s) { s.dx = s.W.cwiseProduct(s.dW - s.W.cwiseProduct(s.dW)); }), always},
    Row{"softmax-unweighted", "dweights - delta without the weights", "dmasked_scores = weights·(dweights - delta)",
        at(&Backward::dmasked_scores,
           [](Steps& s) { s.dx = (s.W.array() == 0).select(0, s.dW.colwise() - s.delta.transpose()); }),
        always},
    Row{"dweights-d-k", "dweights summed over the first d_k numbers of the values", "dO·Vᵀ sums over all d_v numbers",
        at(&Backward::dweights, [](Steps& s) { s.dW = narrow_dweights(s); }), in_wide_values},
    Row{"dweights-delta-d-k", "d_k in place of d_v: dweights and delta summed over the first d_k numbers",
        "dO·Vᵀ and delta sum over all d_v numbers",
        [](Variant& v) {
            v.backward.dweights = [](Steps& s) { s.dW = narrow_dweights(s); };
            v.backward.delta = [](Steps& s) { s.delta = narrow_delta(s); };
        },
        in_wide_values},
    // ---- weights that are made again
    Row{"lse-as-base-2", "lse, a natural logarithm, taken for one to base 2",
        "exp(score - lse), or divide lse by ln 2 for exp2",
        [](Variant& v) {
            v.backward.lse = [](const HeadForward& f) -> RowVector<double> { return f.lse * std::numbers::ln2; };
        },
        always},
    Row{"weights-undivided", "weights made again without their sum: exp(score - maximum)",
        "exp(score - lse), lse with its log of the sum",
        [](Variant& v) { v.backward.lse = [](const HeadForward& f) { return f.largest; }; }, always},
    Row{"empty-rows-nan-weights", "NaN weights of queries that see no key (-∞ - -∞)", "take 0 where lse is -∞",
        at(&Backward::weights, [](Steps& s) { for_empty(s, [&](Index i) { s.W.row(i).setConstant(nan); }); }), in_masked},
    Row{"empty-rows-nan-delta", "NaN delta of queries that see no key", "their context counts as zeros",
        at(&Backward::delta, [](Steps& s) { for_empty(s, [&](Index i) { s.delta(i) = nan; }); }), in_masked},
    // ---- softcap
    Row{"softcap-slope-missing", "no derivative of the softcap", "multiply by 1 - (capped/c)²",
        [](Variant& v) { v.backward.slope = [](double, double, double) { return 1.0; }; }, in_softcap},
    Row{"softcap-slope-uncapped", "the softcap's derivative of the score before the cap: 1 - (score/c)²",
        "multiply by 1 - (capped/c)²",
        [](Variant& v) { v.backward.slope = [](double ratio, double, double) { return 1 - ratio * ratio; }; }, in_softcap},
    Row{"softcap-slope-undivided", "the softcap's derivative not divided by c: 1 - capped²", "multiply by 1 - (capped/c)²",
        [](Variant& v) { v.backward.slope = [](double, double tanh, double cap) { return 1 - cap * tanh * cap * tanh; }; },
        [](const C& c) { return c.options.softcap && *c.options.softcap != 1; }},
    Row{"softcap-slope-unsquared", "the softcap's derivative not squared: 1 - capped/c", "multiply by 1 - (capped/c)²",
        [](Variant& v) { v.backward.slope = [](double, double tanh, double) { return 1 - tanh; }; }, in_softcap},
    // ---- heads
    Row{"group-mean", "dk and dv averaged over the heads of a group", sum_heads,
        [](Variant& v) { v.backward.heads = [](Index, Index count) { return 1 / static_cast<double>(count); }; }, in_groups},
    Row{"group-last", "dk and dv of the last head of a group alone", sum_heads,
        [](Variant& v) { v.backward.heads = [](Index n, Index count) { return n == count - 1 ? 1.0 : 0.0; }; }, in_groups},
    Row{"group-first", "dk and dv of the first head of a group alone", sum_heads,
        [](Variant& v) { v.backward.heads = [](Index n, Index) { return n == 0 ? 1.0 : 0.0; }; }, in_groups},
    Row{"group-interleaved", "dk and dv summed over heads h with h mod H_kv = g", sum_heads,
        [](Variant& v) { v.backward.heads_interleaved = true; }, in_key_heads},
    Row{"gradients-viewed", "heads and positions of dq, dk and dv swapped by a view", "transpose, do not reshape",
        [](Variant& v) { v.backward.heads_swapped = true; }, in_memory},
    Row{"dk-dv-exchanged", "dk and dv exchanged", "the order is dq, dk, dv",
        [](Variant& v) { v.backward.exchanged = Exchange::dk_dv; }, in_equal_sizes},
    Row{"dq-dk-exchanged", "dq and dk exchanged", "dq = dscores·K, dk = dscoresᵀ·Q",
        [](Variant& v) { v.backward.exchanged = Exchange::dq_dk; }, in_equal_rows},
    // ---- tiles
    Row{"dq-tile-last", "dq of the last tile of keys alone: overwritten, not added to", sum_keys,
        [](Variant& v) { v.backward.over_keys = last_reached; }, always, true},
    Row{"dq-tile-first", "dq of the first tile of keys alone", sum_keys,
        [](Variant& v) { v.backward.over_keys = first_reached; }, always, true},
    Row{"dq-tile-dropped", "dq without the last tile of keys", "round the number of tiles up",
        [](Variant& v) { v.backward.over_keys = without_last_keys; }, always, true},
    Row{"dk-dv-tile-last", "dk and dv of the last tile of queries alone: overwritten, not added to", sum_queries,
        [](Variant& v) { v.backward.over_queries = last_queries; }, always, true},
    Row{"dk-dv-tile-dropped", "dk and dv without the last tile of queries", sum_queries,
        [](Variant& v) { v.backward.over_queries = without_last_queries; }, always, true},
    Row{"dk-dv-diagonal-dropped", "dk and dv without the queries of the diagonal's tile",
        "begin with the tile of queries that the diagonal crosses",
        [](Variant& v) { v.backward.over_queries = without_diagonal; }, in_causal, true},
    Row{"dk-dv-begun-late", "dk and dv without the tile of queries in which their keys begin, keys in tiles half as large",
        "round the first tile of queries down, not up", [](Variant& v) { v.backward.over_queries = begun_late; }, in_causal,
        true},
    // ---- dropout
    Row{"dropout-dweights-undivided", "dweights not divided by 1 - p", "what is kept is divided by 1 - p, in dweights, too",
        at(&Backward::dweights, [](Steps& s) { s.dW = s.products.cwiseProduct(s.in.kept); }), in_dropout},
    Row{"dropout-dweights-missing", "dweights without dropout", "multiply dO·Vᵀ by kept/(1 - p)",
        at(&Backward::dweights, [](Steps& s) { s.dW = s.products; }), in_dropout},
    Row{"dropout-dv-undivided", "dv not divided by 1 - p", "dv = (weights·kept/(1 - p))ᵀ·dO",
        at(&Backward::dropped_weights, [](Steps& s) { s.D = s.W.cwiseProduct(s.in.kept); }), in_dropout},
    Row{"dropout-dv-missing", "dv without dropout", "dv = (weights·kept/(1 - p))ᵀ·dO",
        at(&Backward::dropped_weights, [](Steps& s) { s.D = s.W; }), in_dropout},
    Row{"dropout-undivided", "neither dweights nor dv divided by 1 - p", "divide by 1 - p what is kept, forward and backward",
        [](Variant& v) {
            v.backward.dweights = [](Steps& s) { s.dW = s.products.cwiseProduct(s.in.kept); };
            v.backward.dropped_weights = [](Steps& s) { s.D = s.W.cwiseProduct(s.in.kept); };
        },
        in_dropout},
    Row{"dropout-missing", "no dropout in the backward", "leave out what the forward has left out",
        [](Variant& v) {
            v.backward.dweights = [](Steps& s) { s.dW = s.products; };
            v.backward.dropped_weights = [](Steps& s) { s.D = s.W; };
        },
        in_dropout},
    // ---- sinks and masks of numbers
    Row{"dsinks-missing", "no gradient of the sinks", "dsinks = -Σ exp(sink - lse)·delta",
        [](Variant& v) { v.backward.dsinks = nothing; }, in_sinks},
    Row{"dsinks-negated", "dsinks with the other sign", "dsinks = -Σ exp(sink - lse)·delta",
        [](Variant& v) { v.backward.dsinks = negated; }, in_sinks},
    Row{"dsinks-scaled", "dsinks times the scale", "a sink is a final score: it is not scaled",
        [](Variant& v) { v.backward.dsinks = scaled; }, [](const C& c) { return in_sinks(c) && in_scale(c); }},
    Row{"dmask-last", "dmask of the last entry that the mask is repeated for: written, not added",
        "add up what the mask is repeated for", [](Variant& v) { v.backward.mask = MaskSum::last; }, in_mask},
    Row{"dmask-mean", "dmask averaged over what the mask is repeated for", "add up what the mask is repeated for",
        [](Variant& v) { v.backward.mask = MaskSum::mean; }, in_mask},
    Row{"dmask-scaled", "dscores in place of dmasked_scores in dmask", "take it before the softcap's derivative and the scale",
        [](Variant& v) { v.backward.mask = MaskSum::scaled; }, in_mask},
    // ---- precision
    Row{"context-bfloat16", "delta of a context rounded to bfloat16", "take delta from the context in float32",
        [](Variant& v) { v.backward.rounded_context = Precision::bfloat16; }, always},
    Row{"context-float16", "delta of a context rounded to float16", "take delta from the context in float32",
        [](Variant& v) { v.backward.rounded_context = Precision::float16; }, always},
    Row{"dv-weights-bfloat16", "weights rounded to bfloat16 in dv", in_float32,
        [](Variant& v) { v.backward.rounded_weights = Precision::bfloat16; }, always},
    Row{"dv-weights-float16", "weights rounded to float16 in dv", in_float32,
        [](Variant& v) { v.backward.rounded_weights = Precision::float16; }, always},
    Row{"dweights-bfloat16", "dweights rounded to bfloat16", in_float32,
        [](Variant& v) { v.backward.rounded_dweights = Precision::bfloat16; }, always},
    Row{"dweights-float16", "dweights rounded to float16", in_float32,
        [](Variant& v) { v.backward.rounded_dweights = Precision::float16; }, always},
    Row{"dscores-bfloat16", "dscores rounded to bfloat16", in_float32,
        [](Variant& v) { v.backward.rounded_dscores = Precision::bfloat16; }, always},
    Row{"dscores-float16", "dscores rounded to float16", in_float32,
        [](Variant& v) { v.backward.rounded_dscores = Precision::float16; }, always},
};

/// Of the forward, what its gradients are known of.
bool is_taken(const Mistake& mistake)
{
    return is_differentiable(mistake.on({}));
}

/// Likewise, or of lse; but a sink is in lse, which is right.
bool is_taken_alone(const Mistake& mistake)
{
    Variant variant = mistake.on({});
    const bool of_lse = variant.lse != LseUse::right;
    variant.lse = LseUse::right;
    return is_differentiable(variant) && variant.sink == SinkUse::right && (of_lse || variant != Variant{});
}

std::vector<Mistake> all_mistakes()
{
    std::vector<Mistake> all;
    for (const Row& row : list) {
        const std::string name(row.name), what(row.what);
        if (!row.tiled) {
            all.push_back({{name, Group::gradients, what, row.advice, threads_of(row.name)}, row.change, row.applies});
            continue;
        }
        for (const Index tile : tile_sizes) {
            all.push_back({{fmt::format("{}-{}", name, tile), Group::gradients, fmt::format("{} (tiles of {})", what, tile),
                            row.advice, threads_of(row.name)},
                           row.change,
                           row.applies,
                           &Variant::tile,
                           tile});
        }
    }
    for (const Mistake& mistake : mistakes()) {
        if (is_taken_alone(mistake)) {
            Mistake& alone = all.emplace_back(mistake);
            alone.name = "backward-" + mistake.name;
            alone.what = "in the backward alone: " + mistake.what;
            alone.threads = threads_of(alone.name);
            alone.backward_alone = true;
        }
    }
    return all;
}

} // namespace

std::span<const Mistake> backward_mistakes()
{
    static const std::vector<Mistake> all = all_mistakes();
    return all;
}

std::vector<const Mistake*> backward_mistakes_of(Show gradients)
{
    std::vector<const Mistake*> found;
    const auto take = [&](const Mistake& mistake) {
        const Show changed = gradients_changed(mistake.on({}));
        if (gradients.without(changed).size() < gradients.size()) {
            found.push_back(&mistake);
        }
    };
    std::ranges::for_each(backward_mistakes(), take);
    for (const Mistake& mistake : mistakes()) {
        if (is_taken(mistake)) {
            take(mistake);
        }
    }
    return found;
}

std::vector<const Mistake*> backward_mistakes_in(const Call& call, Show gradients)
{
    std::vector<const Mistake*> found = backward_mistakes_of(gradients);
    std::erase_if(found, [&](const Mistake* mistake) { return !mistake->applies(call) || !size_counts(*mistake, call); });
    return found;
}

} // namespace attn::model::diagnose
