#include "attn/model/diagnose/backward/pass.hpp"

#include "attn/core/gradients.hpp"
#include "attn/model/diagnose/against.hpp"

#include <algorithm>

namespace attn::model::diagnose {
namespace {

using core::AttentionDims;
using Numbers = Matrix<double>;

double factor_of(GradientFactor factor, double scale, const AttentionDims& l)
{
    return factor != nullptr ? factor(scale, l) : 1;
}

Item exchanged(Item gradient, Exchange exchange)
{
    using enum Item;
    const auto [a, b] = exchange == Exchange::dk_dv ? std::pair(dk, dv) : std::pair(dq, dk);
    return exchange == Exchange::none ? gradient : gradient == a ? b : gradient == b ? a : gradient;
}

/// The numbers of a head.
void add_to_mask(const Numbers& numbers, const Call& call, core::RowPlace at, MaskSum sum, BackwardSums& sums)
{
    const TensorView& mask = *call.views.mask;
    const core::MaskPlaces places(mask);
    sums.mask.resize(static_cast<std::size_t>(places.count));
    for (Index i = 0; i < numbers.rows(); ++i) {
        double* to = sums.mask.data() + places.row(at.b, at.h, i);
        for (Index j = 0; j < mask.shape[3]; ++j) {
            to[j] = sum == MaskSum::last ? numbers(i, j) : to[j] + numbers(i, j);
        }
    }
}

} // namespace

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
    case Item::dmask: return {1, 1, 1, core::MaskPlaces(*call.views.mask).count};
    case Item::dsinks: return {1, 1, 1, l.H};
    case Item::dscale: return {1, 1, 1, 1};
    default: return {l.B, l.H, l.T, l.total()};
    }
}

std::vector<double> by_heads(const Call& call, Item gradient, std::vector<double> values)
{
    const bool of_cache = gradient == Item::dpast_key || gradient == Item::dpast_value;
    const bool of_rows = gradient == Item::dq || gradient == Item::dk || gradient == Item::dv;
    const bool beside = of_cache ? call.options.layout == TensorLayout::bshd : of_rows && call.views.side_by_side;
    return beside ? split_into_heads(values, dims_of(call, gradient)) : std::move(values);
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
    const Show from_scores{dscores, dq, dk, dpast_key, dscale}, from_masked = Show{dmasked_scores, dmask}.with(from_scores);
    const Show of_keys{dk, dpast_key}, of_values{dv, dpast_value};
    Show changed;
    const auto mark = [&](bool edited, const Show& gradients) { changed = edited ? changed.with(gradients) : changed; };
    mark(edit.dweights != nullptr || edit.rounded_dweights != Precision::exact, Show{dweights}.with(from_masked));
    mark(edit.delta != nullptr || edit.rounded_context != Precision::exact, Show{delta, dsinks}.with(from_masked));
    mark(edit.dmasked_scores != nullptr, from_masked);
    mark(edit.slope != nullptr || edit.rounded_dscores != Precision::exact, from_scores);
    mark(edit.dropped_weights != nullptr || edit.rounded_weights != Precision::exact, of_values);
    mark(edit.over_keys != nullptr || edit.dq != nullptr, {dq});
    mark(edit.over_queries != nullptr || edit.heads != nullptr || edit.heads_interleaved, of_keys.with(of_values));
    mark(edit.dk != nullptr, of_keys);
    mark(edit.dv != nullptr, of_values);
    mark(edit.dsinks != nullptr, {dsinks});
    mark(edit.mask != MaskSum::right, {dmask});
    mark(edit.exchanged == Exchange::dk_dv, {dk, dv});
    mark(edit.exchanged == Exchange::dq_dk, {dq, dk});
    mark(edit.heads_swapped, {dq, dk, dv});
    mark(changes_forward(v) || edit.alone || edit.lse != nullptr || edit.weights != nullptr,
         Show{dweights, delta, dsinks}.with(from_masked).with(of_values));
    return changed;
}

// ---- a head ----------------------------------------------------------------------------------------------------------------

BackwardPass::BackwardPass(const Call& call, Show wanted)
    : call_(call), wanted_(wanted), pieces_(call, Packing::right), room_(std::size_t{1} << 24)
{
    for (CallPiece& piece : pieces_.all()) {
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

std::shared_ptr<const RightHead> BackwardPass::head(CallPiece& piece, Index b, Index h)
{
    const std::pair key(static_cast<const CallPiece*>(&piece), std::array{b, h});
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = heads_.find(key); found != heads_.end()) {
            return found->second;
        }
    }
    auto head = std::make_shared<const RightHead>(right_head(piece, {b, h, 0}, wanted_));
    const auto size = static_cast<std::size_t>(4 * head->products.size()); // kept, scaled, weights and these
    const std::lock_guard lock(mutex_);
    if (size <= room_ && heads_.emplace(key, head).second) {
        room_ -= size;
    }
    return head;
}

std::shared_ptr<const HeadGradients> BackwardPass::gradients(const Variant& variant, CallPiece& piece, Index b, Index h)
{
    const std::shared_ptr<const RightHead> right = head(piece, b, h);
    Variant steps = variant;
    static_cast<StoredKnobs&>(steps.backward) = {};
    if (steps.backward == Backward{} && !changes_forward(steps)) {
        return {right, &right->gradients};
    }
    const auto first_head = [&] { return head(piece, b, 0)->gradients.delta; };
    return std::make_shared<const HeadGradients>(differentiate_head(steps, piece, *right, {b, h, 0}, wanted_, first_head));
}

// ---- a group ---------------------------------------------------------------------------------------------------------------

void BackwardPass::differentiate(const Variant& v, Index group, BackwardSums& sums, const UseGradient& use)
{
    const Group& of = groups_[static_cast<std::size_t>(group)];
    CallPiece* const piece = of.piece;
    const Index b = of.b, g = of.g;
    const AttentionDims& l = piece->call.views.sizes;
    const AttentionDims& whole = call_.views.sizes;
    const StoredKnobs& edit = v.backward;
    const double scale = scale_of(piece->call, v);
    const auto use_all = [&](Item gradient, Index at, const Numbers& numbers, double factor) {
        const Item stored = exchanged(gradient, edit.exchanged);
        if (wanted_.contains(stored)) {
            const Numbers made = numbers * factor;
            use(stored, static_cast<std::size_t>(at), {made.data(), static_cast<std::size_t>(made.size())});
        }
    };
    const KeyHead summed = edit.heads_interleaved ? KeyHead::interleaved : v.key_head;
    std::vector<Index> heads;
    for (Index h = 0; h < l.H; ++h) {
        if (key_head(l, summed, h) == g) {
            heads.push_back(h);
        }
    }
    Numbers dk = Numbers::Zero(l.total(), l.d_k), dv = Numbers::Zero(l.total(), l.d_v);
    for (Index n = 0; n < std::ssize(heads); ++n) {
        const Index h = heads[static_cast<std::size_t>(n)];
        const std::shared_ptr<const HeadGradients> its = gradients(v, *piece, b, h);
        const HeadGradients& made = *its;
        const Index row = (b * whole.H + h) * whole.T + piece->first;
        use_all(Item::dq, row * l.d_k, made.dq, scale * factor_of(edit.dq, scale, l));
        use_all(Item::delta, row, made.delta, 1);
        use_all(Item::dweights, row * l.total(), made.dweights, 1);
        use_all(Item::dmasked_scores, row * l.total(), made.dmasked, 1);
        use_all(Item::dscores, row * l.total(), made.dscores, scale);
        const double share = edit.heads != nullptr ? edit.heads(n, std::ssize(heads)) : 1;
        if (share != 0) {
            dk += made.dk * share;
            dv += made.dv * share;
        }
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
    const auto use_keys = [&](const Numbers& numbers, Item cache, Item now, double factor) {
        const Index width = numbers.cols(), rows = b * whole.H_kv + g;
        use_all(cache, rows * whole.P * width, numbers.topRows(l.P), factor);
        use_all(now, (rows * whole.S + piece->first_key) * width, numbers.bottomRows(l.S), factor);
    };
    use_keys(dk, Item::dpast_key, Item::dk, scale * factor_of(edit.dk, scale, l));
    use_keys(dv, Item::dpast_value, Item::dv, factor_of(edit.dv, scale, l));
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
            const auto repeats = static_cast<double>(core::MaskPlaces(*call_.views.mask).repeats);
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
