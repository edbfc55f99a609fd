#include "attn/model/diagnose/evaluate.hpp"

#include "attn/core/parallel.hpp"
#include "attn/model/diagnose/rounding.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

namespace attn::model::diagnose {
namespace {

/// Where row (h, i) of the result is taken from when the memory of (H, T, d) was written in the other order.
core::RowPlace swapped(core::RowPlace place, const core::AttentionDims& l, bool side_by_side)
{
    if (side_by_side) {
        const Index row = place.i * l.H + place.h;
        return {place.b, row / l.T, row % l.T};
    }
    const Index row = place.h * l.T + place.i;
    return {place.b, row % l.H, row / l.H};
}

std::vector<Index> all_heads(const core::AttentionDims& l)
{
    std::vector<Index> heads(static_cast<std::size_t>(l.B * l.H));
    std::iota(heads.begin(), heads.end(), Index{0});
    return heads;
}

std::vector<double> weight_matrix(const Masking& of, SharedProducts& shared, const Across& known, Index b, Index h)
{
    Variant plain = of.variant;
    plain.weights_transposed = false;
    const Masking masking(of.call, plain);
    Rows rows(masking, shared, known);
    std::vector<double> matrix;
    for (Index i = 0; i < masking.sizes.T; ++i) {
        const std::vector<double> row = rows.weights({b, h, i});
        matrix.insert(matrix.end(), row.begin(), row.end());
    }
    return matrix;
}

/// Adds w_j · v_j for the rows of a block, in order, and rounds after each; a weight of 0 contributes nothing.
void add_weighted_rows(const std::vector<double>& weights, const HeadBlock& values, Precision accumulator,
                       std::vector<double>& to)
{
    struct Term {
        double weight;
        const double* row;
    };
    std::vector<Term> terms;
    terms.reserve(static_cast<std::size_t>(values.count));
    for (Index j = values.first; j < values.first + values.count; ++j) {
        if (const double weight = weights[static_cast<std::size_t>(j)]; weight != 0) {
            terms.push_back({weight, values.row(j)});
        }
    }
    double* const sum = to.data();
    const std::size_t size = to.size();
    std::size_t k = 0;
    for (; accumulator == Precision::exact && k + 4 <= terms.size(); k += 4) { // four at once, as add_products
        const Term a = terms[k], b = terms[k + 1], c = terms[k + 2], d = terms[k + 3];
        for (std::size_t x = 0; x < size; ++x) {
            sum[x] = sum[x] + a.weight * a.row[x] + b.weight * b.row[x] + c.weight * c.row[x] + d.weight * d.row[x];
        }
    }
    for (; k < terms.size(); ++k) {
        for (std::size_t x = 0; x < size; ++x) {
            sum[x] += terms[k].weight * terms[k].row[x];
        }
        round_all(to, accumulator);
    }
}

} // namespace

ComparedDims dims_of(const Call& call, Compared compared)
{
    const core::AttentionDims& l = call.views.sizes;
    switch (compared) {
    case Compared::context: return {l.B, l.H, l.T, l.d_v};
    case Compared::weights: return {l.B, l.H, l.T, l.total()};
    case Compared::output: return {l.B, 1, l.T, call.projection->W.cols()};
    case Compared::lse: return {l.B, l.H, l.T, 1};
    }
    return {};
}

std::optional<Compared> compared_stage(std::string_view name)
{
    return name == name_of(Item::context)   ? std::optional(Compared::context)
           : name == name_of(Item::weights) ? std::optional(Compared::weights)
           : name == name_of(Item::lse)     ? std::optional(Compared::lse)
                                            : std::nullopt;
}

bool can_compare(const Variant& variant, Compared compared)
{
    switch (compared) {
    case Compared::lse: return as_compared(variant, compared) != Variant{};
    case Compared::weights: return variant.lse == LseUse::right && variant.along == Along::positions && !variant.cache_missing;
    default: return variant.lse == LseUse::right;
    }
}

Variant as_compared(const Variant& variant, Compared compared)
{
    Variant v = variant;
    if (compared != Compared::lse) {
        return v;
    }
    const Variant right;
    v.read = v.read_of == ReadOf::values ? right.read : v.read;
    v.read_of = v.read_of == ReadOf::keys ? v.read_of : right.read_of;
    v.written = v.written == Reading::swapped ? v.written : right.written;
    v.value_head = right.value_head;
    v.mean_of_heads = right.mean_of_heads;
    v.summed = right.summed;
    v.residual = right.residual;
    v.value_lanes = right.value_lanes;
    v.first_values = right.first_values;
    v.empty = v.empty == EmptyRow::nan ? v.empty : right.empty;
    v.sink = v.sink == SinkUse::after_softmax ? right.sink : v.sink;
    v.over = right.over;
    v.weighting = right.weighting;
    v.parts = right.parts;
    const bool tiled = v.denominator != Maximum::row || v.last_tile != LastTile::right ||
                       v.group_packing == GroupPacking::from_tile ||
                       v.causal >= CausalUse::diagonal_tile_seen; // from there on the rule is one of tiles
    v.tile = tiled ? v.tile : right.tile;
    v.merged_by_maximum = right.merged_by_maximum;
    v.weights_transposed = right.weights_transposed;
    v.numerator = right.numerator;
    v.exponentials = v.subtracted == Subtracted::maximum ? right.exponentials : v.exponentials;
    v.weights = right.weights;
    v.accumulator = right.accumulator;
    return v;
}

Across across(const Masking& masking, SharedProducts& shared, const std::vector<Index>& heads, const core::Work& work)
{
    const Variant& variant = masking.variant;
    Across found;
    if (!mixes_rows(variant)) {
        return found;
    }
    const core::AttentionDims& l = masking.sizes;
    const bool spans = variant.over != Over::keys && variant.over != Over::heads;
    const std::vector<Index> needed = variant.over == Over::all ? all_heads(l) : heads;
    for (const Index head : needed) {
        found.spreads[head];
        found.weights[head];
    }
    const auto count = static_cast<Index>(needed.size());
    core::for_each_block(spans ? count : 0, work, [&](Index block) {
        const Index head = needed[static_cast<std::size_t>(block)];
        Spread& spread = found.spreads.at(head);
        for (Index i = 0; i < l.T; ++i) {
            const ScoreRow row = score_row(masking, shared, {head / l.H, head % l.H, i});
            variant.over == Over::key_rows || variant.over == Over::key_sums ? spread.append(row)
                                                                             : spread.add(row, variant.over == Over::queries);
        }
    });
    if (variant.over == Over::all) {
        Spread all;
        for (const auto& [head, spread] : found.spreads) {
            all.add(spread);
        }
        for (auto& [head, spread] : found.spreads) {
            spread = all;
        }
    }
    core::for_each_block(variant.weights_transposed ? count : 0, work, [&](Index block) {
        const Index head = needed[static_cast<std::size_t>(block)];
        found.weights.at(head) = weight_matrix(masking, shared, found, head / l.H, head % l.H);
    });
    return found;
}

const Spread* Rows::spread(core::RowPlace place)
{
    if (variant_.over == Over::keys) {
        return nullptr;
    }
    if (variant_.over != Over::heads) {
        return &across_.spreads.at(place.b * sizes_.H + place.h);
    }
    if (over_heads_at_ != std::array{place.b, place.i}) {
        over_heads_at_ = {place.b, place.i};
        over_heads_ = {};
        for (Index h = 0; h < sizes_.H; ++h) {
            over_heads_.add(score_row(masking_, shared_, {place.b, h, place.i}), true);
        }
    }
    return &over_heads_;
}

std::vector<double> Rows::weights(core::RowPlace place)
{
    if (variant_.weights_transposed) {
        const std::vector<double>& matrix = across_.weights.at(place.b * sizes_.H + place.h);
        std::vector<double> column;
        for (Index j = 0; j < sizes_.T; ++j) {
            column.push_back(matrix[static_cast<std::size_t>(j * sizes_.S + place.i)]);
        }
        return column;
    }
    return weigh(call_, variant_, score_row(masking_, shared_, place), spread(place));
}

/// Σ_j w_j · v_j; a weight of 0 contributes nothing.
std::vector<double> Rows::summed(std::vector<double> weights, core::RowPlace place)
{
    for (Index j = variant_.tile; variant_.first_values && j < std::ssize(weights); ++j) {
        weights[static_cast<std::size_t>(j % variant_.tile)] += std::exchange(weights[static_cast<std::size_t>(j)], 0);
    }
    const Operand operand = variant_.summed == Summed::values ? Operand::values
                            : variant_.summed == Summed::keys ? Operand::keys
                                                              : Operand::queries;
    const Index head = operand == Operand::queries ? place.h : key_head(sizes_, variant_.value_head, place.h);
    std::vector<double> sum(static_cast<std::size_t>(operand == Operand::values ? sizes_.d_v : sizes_.d_k));
    shared_.operands().for_each_block(variant_, operand, Order::rows, place.b, head, [&](const HeadBlock& values) {
        add_weighted_rows(weights, values, variant_.accumulator, sum);
    });
    if (variant_.value_lanes > 0) {
        std::fill(sum.begin() + std::ssize(sum) / variant_.value_lanes * variant_.value_lanes, sum.end(), 0.0);
    }
    return sum;
}

const std::vector<double>& Rows::head_context(core::RowPlace place)
{
    const std::array key{place.b, place.h, place.i};
    if (const auto found = contexts_.find(key); found != contexts_.end()) {
        return found->second;
    }
    std::vector<double> row =
        is_dropped(place) ? std::vector<double>(static_cast<std::size_t>(sizes_.d_v)) : summed(weights(place), place);
    return contexts_.emplace(key, std::move(row)).first->second;
}

bool Rows::is_dropped(core::RowPlace place) const
{
    return variant_.row_tile > 0 && place.i >= sizes_.T / variant_.row_tile * variant_.row_tile;
}

core::RowPlace Rows::computed_at(core::RowPlace place) const
{
    const Index h = variant_.heads_reversed ? call_.views.sizes.H - 1 - place.h : place.h;
    switch (variant_.along) {
    case Along::positions: break;
    case Along::heads: return {place.b, place.i, h};
    case Along::batch: return {place.i, h, place.b};
    }
    return {place.b, h, place.i};
}

/// Of the heads of the call, before they are written.
std::vector<double> Rows::merged(core::RowPlace place)
{
    const Index H = call_.views.sizes.H;
    const auto of = [&](Index h) -> const std::vector<double>& { return head_context(computed_at({place.b, h, place.i})); };
    if (!variant_.mean_of_heads) {
        return of(place.h);
    }
    std::vector<double> mean(static_cast<std::size_t>(sizes_.d_v));
    for (Index h = 0; h < H; ++h) {
        const std::vector<double>& row = of(h);
        for (std::size_t x = 0; x < mean.size(); ++x) {
            mean[x] += row[x] / static_cast<double>(H);
        }
    }
    return mean;
}

std::vector<double> Rows::result(core::RowPlace place)
{
    const core::AttentionDims& l = call_.views.sizes;
    std::vector<double> row;
    switch (variant_.written) {
    case Reading::right: row = merged(place); break;
    case Reading::swapped: row = merged(swapped(place, l, call_.views.side_by_side)); break;
    case Reading::strided:
        for (Index x = 0; x < l.d_v; ++x) {
            const Index column = place.h * l.d_v + x;
            row.push_back(merged({place.b, column % l.H, place.i})[static_cast<std::size_t>(column / l.H)]);
        }
        break;
    }
    round_all(row, variant_.result);
    if (variant_.denormals_flushed) {
        flush_all(row, smallest_normal(call_.views.queries.type));
    }
    return row;
}

double Rows::lse(core::RowPlace place)
{
    const bool swaps = variant_.written == Reading::swapped;
    const core::RowPlace at = computed_at(swaps ? swapped(place, call_.views.sizes, false) : place);
    const double computed =
        is_dropped(at) ? 0 : log_of_sum(variant_, score_row(masking_, shared_, at), core::is_wide(call_.views));
    return rounded(computed, variant_.result);
}

std::vector<double> Rows::output(core::RowPlace place)
{
    const OutputProjection& projection = *call_.projection;
    RowVector<double> heads(projection.W.rows());
    const Index d_v = call_.views.sizes.d_v;
    for (Index h = 0; h < call_.views.sizes.H; ++h) {
        const std::vector<double> context = result({place.b, h, place.i});
        heads.segment(h * d_v, d_v) = Eigen::Map<const RowVector<double>>(context.data(), d_v);
    }
    RowVector<double> row = heads * projection.W;
    if (projection.b.size() > 0) {
        row += projection.b;
    }
    return {row.data(), row.data() + row.size()};
}

std::vector<double> Rows::with_residual(std::vector<double> row, core::RowPlace place) const
{
    if (variant_.residual) {
        const Index width = std::ssize(row);
        Eigen::Map<RowVector<double>>(row.data(), width) += call_.residual->row(place.i).segment(place.h * width, width);
    }
    return row;
}

std::vector<double> compared_row(Rows& rows, Compared compared, core::RowPlace place)
{
    switch (compared) {
    case Compared::context: return rows.with_residual(rows.result(place), place);
    case Compared::weights: return rows.weights(place);
    case Compared::output: return rows.with_residual(rows.output(place), place);
    case Compared::lse: return {rows.lse(place)};
    }
    return {};
}

std::vector<double> evaluate(const Call& call, const Variant& variant, Compared compared, const core::Work& work)
{
    const ComparedDims l = dims_of(call, compared);
    Pieces pieces(call, variant.packing);
    std::deque<PieceRows> made;
    constexpr Index at_once = 32; // queries of a batch entry, all heads of each: some variants mix those
    struct Block {
        PieceRows* of;
        Index b, first, end;
    };
    std::vector<Block> blocks;
    for (CallPiece& piece : pieces.all()) {
        PieceRows& rows = made.emplace_back(piece, variant);
        rows.known = across(rows.masking, piece.shared, all_heads(rows.masking.sizes), work);
        for (Index b = 0; b < l.B; ++b) {
            for (Index first = 0; first < piece.queries(); first += at_once) {
                blocks.push_back({&rows, b, first, std::min(first + at_once, piece.queries())});
            }
        }
    }
    std::vector<double> result(static_cast<std::size_t>(l.count()));
    core::for_each_block(std::ssize(blocks), work, [&](Index number) {
        const auto& [of, b, first, end] = blocks[static_cast<std::size_t>(number)];
        Rows rows(of->masking, of->piece.shared, of->known);
        for (Index i = first; i < end; ++i) {
            for (Index h = 0; h < l.H; ++h) {
                const std::vector<double> row = compared_row(rows, compared, {b, h, i});
                const Index to = ((b * l.H + h) * l.T + of->piece.first + i) * l.width;
                std::copy(row.begin(), row.end(), result.begin() + to);
            }
            if (variant.written == Reading::right) {
                rows.forget();
            }
        }
    });
    return result;
}

} // namespace attn::model::diagnose
