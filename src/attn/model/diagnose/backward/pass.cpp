#include "attn/model/diagnose/backward/pass.hpp"

#include "attn/core/block.hpp"
#include "attn/core/gradients.hpp"
#include "attn/core/portable/products.hpp"
#include "attn/math/elementary.hpp"
#include "attn/model/diagnose/against.hpp"
#include "attn/model/diagnose/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace attn::model::diagnose {
namespace {

using core::AttentionDims;
using core::KeyRange;
using Numbers = Matrix<double>;
using Vector = RowVector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What the rows of a query head read.
struct HeadOperands {
    Numbers Q, K, V, dO; ///< (T, d_k), (N, d_k), (N, d_v), (T, d_v), with N = P+S
    Numbers kept;        ///< (T, N) with dropout
    Vector dlse;         ///< (T)
};

/// What a forward makes of them.
struct HeadForward {
    Numbers scaled;          ///< (T, N): q·k · scale, also of what is hidden
    Numbers weights;         ///< (T, N)
    Vector lse;              ///< (T), as it is read
    std::vector<char> empty; ///< (T): nothing is seen
};

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

Numbers product(const core::LeftFactor& A, const Numbers& B)
{
    Numbers C = Numbers::Zero(A.rows, B.cols());
    core::add_product(A, B, C);
    return C;
}

Numbers product(const Numbers& A, const Numbers& B)
{
    return product(core::columns_of(A, 0, A.cols()), B);
}

Numbers product_of_transposed(const Numbers& A, const Numbers& B)
{
    return product(core::transposed(A, 0, A.cols()), B);
}

void round_matrix(Numbers& numbers, Precision precision)
{
    round_all({numbers.data(), static_cast<std::size_t>(numbers.size())}, precision);
}

/// exp(x - lse) of what counts.
void exponentials(const ScoreRow& row, double lse, Eigen::Ref<Vector> to)
{
    std::vector<double> powers(static_cast<std::size_t>(to.size()), -infinity);
    for (std::size_t j = 0; j < powers.size() && lse != -infinity; ++j) {
        powers[j] = row.counted[j] != 0 ? row.scores[j] - lse : -infinity;
    }
    math::exp(powers.data(), to.data(), to.size());
}

/// With `stored`, which is read as lse, the weights are made again from it.
HeadForward forward_of(const Masking& masking, SharedProducts& shared, core::RowPlace at, const Vector* stored)
{
    const AttentionDims& l = masking.sizes;
    const Variant& v = masking.variant;
    const double scale = scale_of(masking.call, v);
    HeadForward made{.scaled = Numbers(l.T, l.S),
                     .weights = Numbers(l.T, l.S),
                     .lse = Vector(l.T),
                     .empty = std::vector<char>(static_cast<std::size_t>(l.T))};
    for (at.i = 0; at.i < l.T; ++at.i) {
        const ScoreRow row = score_row(masking, shared, at);
        const KeptNumbers products = shared.products(masking.call, v, at.b, at.h, at.i);
        made.scaled.row(at.i) = Eigen::Map<const Vector>(products->data(), l.S) * scale;
        made.empty[static_cast<std::size_t>(at.i)] = row.empty ? 1 : 0;
        made.lse(at.i) = log_of_sum(v, row, core::is_wide(masking.call.views));
        if (stored != nullptr) {
            const double lse = (*stored)(at.i);
            const double read = v.backward.lse == LseRead::as_base_2 ? lse * std::numbers::ln2
                                : v.backward.lse == LseRead::maximum ? row.largest()
                                                                     : lse;
            exponentials(row, read, made.weights.row(at.i));
            made.lse(at.i) = read;
        } else {
            const std::vector<double> weights = weigh(masking.call, v, row, nullptr);
            made.weights.row(at.i) = Eigen::Map<const Vector>(weights.data(), l.S);
        }
    }
    return made;
}

/// Weights that the backward makes again, from this lse as the variant stores it.
HeadForward forward_made_again(const Masking& masking, SharedProducts& shared, core::RowPlace at, const Vector& lse)
{
    Variant stored;
    stored.lse = masking.variant.lse;
    const Vector other = stored.lse == LseUse::right ? Vector() : forward_of({masking.call, stored}, shared, at, nullptr).lse;
    return forward_of(masking, shared, at, stored.lse == LseUse::right ? &lse : &other);
}

Numbers with_nan(Numbers weights, const std::vector<char>& empty)
{
    for (Index i = 0; i < weights.rows(); ++i) {
        if (empty[static_cast<std::size_t>(i)] != 0) {
            weights.row(i).setConstant(nan);
        }
    }
    return weights;
}

bool makes_weights_again(const Variant& v)
{
    return v.backward.alone || v.backward.lse != LseRead::right;
}

bool changes_forward(Variant v)
{
    v.backward = {};
    v.tile = 0; // what is tiled there changes more
    return v != Variant{};
}

/// M · kept / (1 - p)
Numbers dropped(Numbers M, const HeadOperands& in, const Call& call, DropoutUse use)
{
    if (call.options.dropout && use != DropoutUse::missing) {
        M = M.cwiseProduct(in.kept) / (use == DropoutUse::undivided ? 1 : 1 - call.options.dropout->p);
    }
    return M;
}

/// Σ dO·O without dlse, of the context that a forward stores.
Vector dots_of_context(const HeadForward& forward, const HeadOperands& in, const Call& call, const Backward& edit)
{
    const DropoutUse use = edit.delta == DeltaUse::undropped ? DropoutUse::missing : DropoutUse::right;
    Numbers O = product(dropped(forward.weights, in, call, use), in.V);
    round_matrix(O, edit.context);
    const Index width = edit.delta_narrow ? std::min(in.K.cols(), O.cols()) : O.cols();
    return O.leftCols(width).cwiseProduct(in.dO.leftCols(width)).rowwise().sum().transpose();
}

/// δ of `own`, which is right.
Vector edited_delta(Vector own, const HeadForward& forward, const Vector& dlse, const Vector& of_first_head, const Variant& v)
{
    const Backward& edit = v.backward;
    const Vector right = own;
    for (Index i = 0; i < own.size(); ++i) {
        switch (edit.delta) {
        case DeltaUse::missing: own(i) = 0; break;
        case DeltaUse::added: own(i) = -right(i); break;
        case DeltaUse::of_first_tile: own(i) = right(i % v.tile); break;
        case DeltaUse::of_tile_before: own(i) = i < v.tile ? 0 : right(i - v.tile); break;
        case DeltaUse::of_first_head: own(i) = of_first_head(i); break;
        case DeltaUse::no_dlse: own(i) += dlse(i); break;
        case DeltaUse::dlse_added: own(i) += 2 * dlse(i); break;
        default: break;
        }
        if (edit.empty_delta_nan && forward.empty[static_cast<std::size_t>(i)] != 0) {
            own(i) = nan;
        }
    }
    return own;
}

/// dx = W ∘ (dW - δ)
Numbers softmax_gradient(const Numbers& W, const Numbers& dW, const Vector& delta, const Backward& edit)
{
    Numbers dx(W.rows(), W.cols());
    for (Index i = 0; i < W.rows(); ++i) {
        for (Index j = 0; j < W.cols(); ++j) {
            const double taken = edit.delta == DeltaUse::own_weight ? W(i, j) * dW(i, j) : delta(i);
            const double factor = edit.no_weights && W(i, j) != 0 ? 1 : W(i, j);
            dx(i, j) = factor * (dW(i, j) - taken);
        }
    }
    return dx;
}

/// What dx is multiplied by for a scaled score.
double slope_of_cap(double scaled, double cap, CapSlope slope)
{
    const double tanh = math::tanh(scaled / cap);
    switch (slope) {
    case CapSlope::missing: return 1;
    case CapSlope::uncapped: return 1 - (scaled / cap) * (scaled / cap);
    case CapSlope::undivided: return 1 - cap * tanh * cap * tanh;
    case CapSlope::unsquared: return 1 - tanh;
    case CapSlope::right: break;
    }
    return 1 - tanh * tanh;
}

// ---- tiles -----------------------------------------------------------------------------------------------------------------

Index tile_of(Index place, Index tile)
{
    return place >= 0 ? place / tile : -((tile - 1 - place) / tile);
}

/// What is in the sum of dq, of queries in the same tile as i.
KeyRange keys_summed(const Masking& right, core::RowPlace at, const Variant& v)
{
    const AttendViews& views = right.call.views;
    const Index all = right.sizes.S, end = end_of_keys(right, at.b), tile = v.tile;
    if (v.backward.over_keys == TileSum::but_last) {
        return {0, end > 0 ? (end - 1) / tile * tile : 0};
    }
    KeyRange reached{all, 0};
    for (Index i = at.i / tile * tile; i < std::min(at.i / tile * tile + tile, right.sizes.T); ++i) {
        const KeyRange own = core::visible_keys(right.call.options, core::position_of(views, at.b, i), end);
        reached = own.begin < own.end ? KeyRange{std::min(reached.begin, own.begin), std::max(reached.end, own.end)} : reached;
    }
    if (reached.begin >= reached.end) {
        return {0, 0};
    }
    const Index first = (v.backward.over_keys == TileSum::first ? reached.begin : reached.end - 1) / tile * tile;
    return {first, std::min(first + tile, all)};
}

/// ds as the sum of dq has it.
Numbers over_keys(Numbers ds, const Masking& right, core::RowPlace at, const Variant& v)
{
    for (at.i = 0; at.i < ds.rows() && v.backward.over_keys != TileSum::all; ++at.i) {
        const KeyRange kept = keys_summed(right, at, v);
        ds.row(at.i).head(kept.begin).setZero();
        ds.row(at.i).tail(ds.cols() - kept.end).setZero();
    }
    return ds;
}

/// ds or D as the sums of dk and dv have it.
Numbers over_queries(Numbers M, const Masking& right, Index b, const Variant& v)
{
    const Index last = M.rows() > 0 && v.tile > 0 ? (M.rows() - 1) / v.tile * v.tile : 0;
    switch (v.backward.over_queries) {
    case TileSum::but_last: M.bottomRows(M.rows() - last).setZero(); break;
    case TileSum::last: M.topRows(last).setZero(); break;
    case TileSum::but_diagonal:
        for (Index i = 0; i < M.rows(); ++i) {
            const Index first = tile_of(core::position_of(right.call.views, b, i), v.tile) * v.tile;
            const Index begin = std::clamp<Index>(first, 0, M.cols());
            const Index end = std::clamp<Index>(first + v.tile, 0, M.cols());
            M.row(i).segment(begin, end - begin).setZero();
        }
        break;
    default: break;
    }
    return M;
}

// ---- after the products ----------------------------------------------------------------------------------------------------

double factor_of(Times times, double scale, const AttentionDims& l)
{
    switch (times) {
    case Times::nothing: return 0;
    case Times::negated: return -1;
    case Times::unscaled: return 1 / scale;
    case Times::scaled: return scale;
    case Times::log2_e: return std::numbers::log2e;
    case Times::ln_2: return std::numbers::ln2;
    case Times::value_size: return std::sqrt(static_cast<double>(l.d_k) / static_cast<double>(l.d_v));
    case Times::right: break;
    }
    return 1;
}

/// Without what only changes how products are scaled, summed and stored.
Variant up_to_products(Variant v)
{
    const Backward right;
    Backward& edit = v.backward;
    edit.dq = right.dq;
    edit.dk = right.dk;
    edit.dv = right.dv;
    edit.dsinks = right.dsinks;
    edit.heads = right.heads;
    edit.mask = right.mask;
    edit.exchanged = right.exchanged;
    edit.heads_swapped = right.heads_swapped;
    return v;
}

Item exchanged(Item gradient, Exchange exchange)
{
    using enum Item;
    const auto [a, b] = exchange == Exchange::dk_dv ? std::pair(dk, dv) : std::pair(dq, dk);
    return exchange == Exchange::none ? gradient : gradient == a ? b : gradient == b ? a : gradient;
}

/// Of a mask: where a number of its gradient is added up, and over how many.
struct MaskPlaces {
    std::array<Index, 3> steps{}; ///< of batch entries, heads and queries; 0 along what it is repeated along
    Index count, repeats = 1;

    MaskPlaces(const TensorView& mask, const AttentionDims& l) : count(mask.shape[3])
    {
        const std::array sizes{l.B, l.H, l.T};
        for (std::size_t axis = steps.size(); axis-- > 0;) {
            const bool repeated = mask.strides[axis] == 0;
            steps.at(axis) = repeated ? 0 : count;
            count *= repeated ? 1 : sizes.at(axis);
            repeats *= repeated ? sizes.at(axis) : 1;
        }
    }
};

/// The numbers of a head.
void add_to_mask(const Numbers& numbers, const Call& call, core::RowPlace at, MaskSum sum, BackwardSums& sums)
{
    const TensorView& mask = *call.views.mask;
    const MaskPlaces places(mask, call.views.sizes);
    sums.mask.resize(static_cast<std::size_t>(places.count));
    for (Index i = 0; i < numbers.rows(); ++i) {
        double* to = sums.mask.data() + at.b * places.steps[0] + at.h * places.steps[1] + i * places.steps[2];
        for (Index j = 0; j < mask.shape[3]; ++j) {
            to[j] = sum == MaskSum::last ? numbers(i, j) : to[j] + numbers(i, j);
        }
    }
}

} // namespace

struct BackwardPass::Made {
    Numbers dq, dk, dv;                 ///< not yet times the scale; dk and dv of this head alone
    Numbers dweights, dmasked, dscores; ///< (T, N), where one is wanted; the last one not yet times the scale
    Vector delta;                       ///< (T)
    double sink = 0, scale = 0;
};

struct BackwardPass::Head {
    HeadOperands in;
    HeadForward forward;
    Numbers products; ///< dO·Vᵀ
    Made made;
};

ComparedDims dims_of(const Call& call, Item gradient)
{
    const AttentionDims& l = call.views.sizes;
    switch (gradient) {
    case Item::dq: return {l.B, l.H, l.T, l.d_k};
    case Item::dk: return {l.B, l.H_kv, l.S, l.d_k};
    case Item::dv: return {l.B, l.H_kv, l.S, l.d_v};
    case Item::dpast_key: return {l.B, l.H_kv, l.P, l.d_k};
    case Item::dpast_value: return {l.B, l.H_kv, l.P, l.d_v};
    case Item::delta: return {l.B, l.H, l.T, 1};
    case Item::dmask: return {1, 1, 1, MaskPlaces(*call.views.mask, l).count};
    case Item::dsinks: return {1, 1, 1, l.H};
    case Item::dscale: return {1, 1, 1, 1};
    default: return {l.B, l.H, l.T, l.total()};
    }
}

std::vector<double> by_heads(const Call& call, Item gradient, const std::vector<double>& values)
{
    const bool of_cache = gradient == Item::dpast_key || gradient == Item::dpast_value;
    const bool of_rows = gradient == Item::dq || gradient == Item::dk || gradient == Item::dv;
    const bool beside = of_cache ? call.options.layout == TensorLayout::bshd : of_rows && call.views.side_by_side;
    return beside ? split_into_heads(values, dims_of(call, gradient)) : values;
}

bool is_differentiable(const Variant& variant)
{
    const bool whole = variant.key_head == variant.value_head && (variant.cap == Cap::right || variant.cap == Cap::missing) &&
                       variant.mask != MaskUse::before_scale &&
                       variant.edits[static_cast<std::size_t>(Slot::distances)] == nullptr;
    const bool tiled = variant.causal >= CausalUse::diagonal_tile_seen || variant.last_tile == LastTile::dropped;
    const bool sinks = variant.sink == SinkUse::right || variant.sink == SinkUse::missing;
    Variant rest = variant;
    rest.key_head = rest.value_head = KeyHead::repeated;
    rest.scale = Scale::right;
    rest.cap = Cap::right;
    rest.mask = MaskUse::right;
    rest.causal = CausalUse::right;
    rest.shift = 0;
    rest.page = 0;
    rest.edits = {};
    rest.sink = sinks ? SinkUse::right : rest.sink;
    rest.last_tile = tiled ? LastTile::right : rest.last_tile;
    rest.tile = tiled ? 0 : rest.tile;
    return whole && rest == Variant{};
}

Show gradients_changed(const Variant& v)
{
    using enum Item;
    const Backward& edit = v.backward;
    const Backward right;
    Backward of_weights = up_to_products(v).backward; // of which what comes later is taken off
    Show changed;
    const auto mark = [&](auto Backward::*knob, std::initializer_list<Item> gradients) {
        if (edit.*knob != right.*knob) {
            changed.insert(gradients);
        }
        of_weights.*knob = right.*knob;
    };
    for (const auto knob :
         {&Backward::dweights_narrow, &Backward::delta_narrow, &Backward::empty_delta_nan, &Backward::no_weights}) {
        mark(knob, {dweights, delta, dmasked_scores, dscores, dq, dk, dpast_key, dmask, dsinks, dscale});
    }
    mark(&Backward::dropped_dweights, {dweights, dmasked_scores, dscores, dq, dk, dpast_key, dmask, dscale});
    mark(&Backward::dweights, {dweights, dmasked_scores, dscores, dq, dk, dpast_key, dmask, dscale});
    mark(&Backward::delta, {delta, dmasked_scores, dscores, dq, dk, dpast_key, dmask, dsinks, dscale});
    mark(&Backward::context, {delta, dmasked_scores, dscores, dq, dk, dpast_key, dmask, dsinks, dscale});
    mark(&Backward::slope, {dscores, dq, dk, dpast_key, dscale});
    mark(&Backward::dscores, {dscores, dq, dk, dpast_key});
    mark(&Backward::weights, {dv, dpast_value});
    mark(&Backward::dropped_weights, {dv, dpast_value});
    mark(&Backward::dq, {dq});
    mark(&Backward::dk, {dk, dpast_key});
    mark(&Backward::dv, {dv, dpast_value});
    mark(&Backward::dsinks, {dsinks});
    mark(&Backward::heads, {dk, dv, dpast_key, dpast_value});
    mark(&Backward::over_keys, {dq});
    mark(&Backward::over_queries, {dk, dv, dpast_key, dpast_value});
    mark(&Backward::mask, {dmask});
    mark(&Backward::heads_swapped, {dq, dk, dv});
    if (edit.exchanged != Exchange::none) {
        changed.insert({edit.exchanged == Exchange::dk_dv ? dv : dq, dk});
    }
    if (changes_forward(v) || of_weights != right) {
        changed.insert({dweights, delta, dmasked_scores, dscores, dq, dk, dv, dpast_key, dpast_value, dmask, dsinks, dscale});
    }
    return changed;
}

// ---- a head ----------------------------------------------------------------------------------------------------------------

BackwardPass::BackwardPass(const Call& call, Show wanted)
    : call_(call), wanted_(wanted), pieces_(call, Packing::right), room_(std::size_t{1} << 24)
{
    for (Piece& piece : pieces_.all()) {
        const AttentionDims& l = piece.call.views.sizes;
        for (Index n = 0; n < l.B * l.H_kv; ++n) {
            groups_.push_back({&piece, n / l.H_kv, n % l.H_kv});
        }
    }
}

Index BackwardPass::scores(Index group) const
{
    const AttentionDims& l = groups_[static_cast<std::size_t>(group)].piece->call.views.sizes;
    return l.H / l.H_kv * l.T * l.total();
}

bool BackwardPass::sums_groups() const
{
    return wanted_.contains(Item::dmask) || wanted_.contains(Item::dsinks) || wanted_.contains(Item::dscale);
}

bool BackwardPass::is_too_large() const
{
    constexpr Index most_scores = Index{1} << 22;
    constexpr Index most_of_all = Index{1} << 24; // where one number is summed over everything
    const AttentionDims& l = call_.views.sizes;
    const auto is_large = [&](const Group& group) {
        const AttentionDims& own = group.piece->call.views.sizes;
        return own.T * own.total() > most_scores;
    };
    return std::ranges::any_of(groups_, is_large) || (sums_groups() && l.B * l.H * l.T * l.total() > most_of_all);
}

std::shared_ptr<const BackwardPass::Head> BackwardPass::head(Piece& piece, Index b, Index h)
{
    const std::pair key(static_cast<const Piece*>(&piece), std::array{b, h});
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = heads_.find(key); found != heads_.end()) {
            return found->second;
        }
    }
    const Variant right;
    const Masking masking(piece.call, right);
    const core::RowPlace at{b, h, 0};
    auto head = std::make_shared<Head>();
    head->in = load_operands(piece.call, at, key_head(masking.sizes, right.key_head, h));
    head->forward = forward_of(masking, piece.shared, at, nullptr);
    head->products = product(head->in.dO, head->in.V.transpose());
    head->made = made_by_steps(right, piece, *head, at);
    const auto size = static_cast<std::size_t>(4 * head->products.size()); // kept, scaled, weights and these
    const std::lock_guard lock(mutex_);
    if (size <= room_ && heads_.emplace(key, head).second) {
        room_ -= size;
    }
    return head;
}

BackwardPass::Made BackwardPass::made_by_steps(const Variant& v, Piece& piece, const Head& right, core::RowPlace at)
{
    const Call& call = piece.call;
    const Backward& edit = v.backward;
    const Variant as_it_is;
    const Masking right_masking(call, as_it_is), masking(call, v);
    const AttentionDims& l = masking.sizes;
    const Index g = key_head(l, v.key_head, at.h);
    const bool other_keys = g != key_head(l, KeyHead::repeated, at.h);
    const HeadOperands other = other_keys ? load_operands(call, at, g) : HeadOperands();
    const HeadOperands& in = other_keys ? other : right.in;
    const bool again = makes_weights_again(v), is_edited = again || changes_forward(v);
    const HeadForward edited = again       ? forward_made_again(masking, piece.shared, at, right.forward.lse)
                               : is_edited ? forward_of(masking, piece.shared, at, nullptr)
                                           : HeadForward();
    const HeadForward& forward = is_edited ? edited : right.forward;

    const Numbers nans = edit.empty_weights_nan ? with_nan(forward.weights, forward.empty) : Numbers();
    const Numbers& W = edit.empty_weights_nan ? nans : forward.weights;
    Numbers dW = right.products;
    if (other_keys || edit.dweights_narrow) {
        const Index width = edit.dweights_narrow ? std::min(l.d_k, l.d_v) : l.d_v;
        dW = product(core::columns_of(in.dO, 0, width), in.V.leftCols(width).transpose());
    }
    dW = dropped(std::move(dW), in, call, edit.dropped_dweights);
    round_matrix(dW, edit.dweights);
    Made made;
    made.delta =
        (again ? dots_of_context(right.forward, right.in, call, edit) : dots_of_context(forward, in, call, edit)) - in.dlse;
    const Vector of_first_head =
        edit.delta == DeltaUse::of_first_head && at.h > 0 ? head(piece, at.b, 0)->made.delta : made.delta;
    made.delta = edited_delta(made.delta, forward, in.dlse, of_first_head, v);
    const Numbers dx = softmax_gradient(W, dW, made.delta, edit);
    Numbers ds = dx;
    const bool caps = call.options.softcap && v.cap != Cap::missing;
    for (Index n = 0; n < ds.size() && caps; ++n) {
        ds.data()[n] *= slope_of_cap(forward.scaled.data()[n], *call.options.softcap, edit.slope);
    }
    made.scale = ds.cwiseProduct(forward.scaled).sum() / scale_of(call, v);
    round_matrix(ds, edit.dscores);
    Numbers D = dropped(W, in, call, edit.dropped_weights);
    round_matrix(D, edit.weights);

    made.dq = product(over_keys(ds, right_masking, at, v), in.K);
    made.dk = product_of_transposed(over_queries(ds, right_masking, at.b, v), in.Q);
    made.dv = product_of_transposed(over_queries(std::move(D), right_masking, at.b, v), in.dO);
    const double sink = call.views.sinks.empty() ? -infinity : call.views.sinks[static_cast<std::size_t>(at.h)];
    for (Index i = 0; i < l.T && sink != -infinity && v.sink != SinkUse::missing; ++i) {
        made.sink -= forward.lse(i) == -infinity ? 0 : math::exp(sink - forward.lse(i)) * made.delta(i);
    }
    made.dweights = wanted_.contains(Item::dweights) ? std::move(dW) : Numbers();
    if (!wanted_.without({Item::dq, Item::dk, Item::dv, Item::dpast_key, Item::dpast_value, Item::delta}).empty()) {
        made.dmasked = dx;
        made.dscores = std::move(ds);
    }
    return made;
}

std::shared_ptr<const BackwardPass::Made> BackwardPass::made_of(const Variant& variant, Piece& piece, Index b, Index h)
{
    const std::shared_ptr<const Head> right = head(piece, b, h);
    const Variant steps = up_to_products(variant);
    if (steps.backward == Backward{} && !changes_forward(steps)) {
        return {right, &right->made};
    }
    return std::make_shared<const Made>(made_by_steps(steps, piece, *right, {b, h, 0}));
}

// ---- a group ---------------------------------------------------------------------------------------------------------------

void BackwardPass::differentiate(const Variant& v, Index group, BackwardSums& sums, const UseGradient& use)
{
    const Group& of = groups_[static_cast<std::size_t>(group)];
    Piece* const piece = of.piece;
    const Index b = of.b, g = of.g;
    const AttentionDims& l = piece->call.views.sizes;
    const AttentionDims& whole = call_.views.sizes;
    const Backward& edit = v.backward;
    const double scale = scale_of(piece->call, v);
    const auto use_all = [&](Item gradient, Index at, const Numbers& numbers, double factor) {
        const Item stored = exchanged(gradient, edit.exchanged);
        if (wanted_.contains(stored)) {
            const Numbers made = numbers * factor;
            use(stored, static_cast<std::size_t>(at), {made.data(), static_cast<std::size_t>(made.size())});
        }
    };
    const KeyHead summed = edit.heads == HeadSum::interleaved ? KeyHead::interleaved : v.key_head;
    std::vector<Index> heads;
    for (Index h = 0; h < l.H; ++h) {
        if (key_head(l, summed, h) == g) {
            heads.push_back(h);
        }
    }
    Numbers dk = Numbers::Zero(l.total(), l.d_k), dv = Numbers::Zero(l.total(), l.d_v);
    for (const Index h : heads) {
        const std::shared_ptr<const Made> its = made_of(v, *piece, b, h);
        const Made& made = *its;
        const Index row = (b * whole.H + h) * whole.T + piece->first;
        use_all(Item::dq, row * l.d_k, made.dq, scale * factor_of(edit.dq, scale, l));
        use_all(Item::delta, row, made.delta, 1);
        use_all(Item::dweights, row * l.total(), made.dweights, 1);
        use_all(Item::dmasked_scores, row * l.total(), made.dmasked, 1);
        use_all(Item::dscores, row * l.total(), made.dscores, scale);
        const bool counts =
            (edit.heads != HeadSum::first || h == heads.front()) && (edit.heads != HeadSum::last || h == heads.back());
        dk += counts ? made.dk : Numbers::Zero(dk.rows(), dk.cols());
        dv += counts ? made.dv : Numbers::Zero(dv.rows(), dv.cols());
        sums.scale += made.scale;
        if (!call_.views.sinks.empty()) {
            sums.sinks.resize(static_cast<std::size_t>(l.H));
            sums.sinks[static_cast<std::size_t>(h)] += made.sink * factor_of(edit.dsinks, scale, l);
        }
        if (wanted_.contains(Item::dmask)) {
            add_to_mask(edit.mask == MaskSum::scaled ? made.dscores * scale : made.dmasked, piece->call, {b, h, 0}, edit.mask,
                        sums);
        }
    }
    const double share = edit.heads == HeadSum::mean && !heads.empty() ? 1 / static_cast<double>(heads.size()) : 1;
    const auto use_keys = [&](const Numbers& numbers, Item cache, Item now, double factor) {
        const Index width = numbers.cols(), rows = b * whole.H_kv + g;
        use_all(cache, rows * whole.P * width, numbers.topRows(l.P), factor);
        use_all(now, (rows * whole.S + piece->first_key) * width, numbers.bottomRows(l.S), factor);
    };
    use_keys(dk, Item::dpast_key, Item::dk, share * scale * factor_of(edit.dk, scale, l));
    use_keys(dv, Item::dpast_value, Item::dv, share * factor_of(edit.dv, scale, l));
}

namespace {

/// As if heads and rows had been written in the other order.
std::vector<double> with_heads_swapped(const std::vector<double>& numbers, const ComparedDims& dims, bool side_by_side)
{
    std::vector<double> written(numbers.size());
    const Index rows = dims.H * dims.T;
    for (Index n = 0; n < dims.B * rows; ++n) {
        const Index b = n / rows, h = n % rows / dims.T, i = n % dims.T;
        const Index flat = side_by_side ? i * dims.H + h : h * dims.T + i;
        const Index from = side_by_side ? flat : flat % dims.H * dims.T + flat / dims.H;
        std::copy_n(numbers.begin() + (b * rows + from) * dims.width, dims.width, written.begin() + n * dims.width);
    }
    return written;
}

} // namespace

Gradients BackwardPass::differentiate(const Variant& variant, const core::Work& work)
{
    Gradients made;
    for (const Item gradient : wanted_) {
        made[gradient].resize(static_cast<std::size_t>(dims_of(call_, gradient).count()));
    }
    std::vector<BackwardSums> sums(sums_groups() ? 1 : groups_.size()); // the last writer is the last in order
    core::for_each_block(groups(), sums_groups() ? core::Work() : work, [&](Index group) {
        differentiate(variant, group, sums[sums_groups() ? 0 : static_cast<std::size_t>(group)],
                      [&](Item gradient, std::size_t at, std::span<const double> numbers) {
                          std::ranges::copy(numbers, made.at(gradient).begin() + static_cast<std::ptrdiff_t>(at));
                      });
    });
    const auto keep = [&](Item gradient, const std::vector<double>& numbers) {
        if (wanted_.contains(gradient) && !numbers.empty()) {
            made[gradient] = numbers;
        }
    };
    if (sums_groups()) {
        if (variant.backward.mask == MaskSum::mean && wanted_.contains(Item::dmask)) {
            const auto repeats = static_cast<double>(MaskPlaces(*call_.views.mask, call_.views.sizes).repeats);
            std::ranges::for_each(sums.front().mask, [&](double& number) { number /= repeats; });
        }
        keep(Item::dmask, sums.front().mask);
        keep(Item::dsinks, sums.front().sinks);
        keep(Item::dscale, {sums.front().scale});
    }
    for (const Item gradient : {Item::dq, Item::dk, Item::dv}) {
        if (variant.backward.heads_swapped && wanted_.contains(gradient)) {
            made[gradient] = with_heads_swapped(made[gradient], dims_of(call_, gradient), call_.views.side_by_side);
        }
    }
    return made;
}

} // namespace attn::model::diagnose
