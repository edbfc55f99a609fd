#include "attn/model/diagnose/scoring.hpp"

#include "attn/math/elementary.hpp"
#include "attn/model/diagnose/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::model::diagnose {
namespace {

/// Adds row · right_j for every j of a block by columns, over the first numbers of each.
void add_products(const double* row, const HeadBlock& right, Index numbers, std::vector<double>& to)
{
    double* sums = to.data() + right.first;
    Index x = 0;
    for (; x + 4 <= numbers; x += 4) { // four at once, as in core's products: each sum keeps the order of its terms
        const double* columns = right.column(x);
        const Index n = right.count;
        for (Index j = 0; j < n; ++j) {
            sums[j] = sums[j] + row[x] * columns[j] + row[x + 1] * columns[n + j] + row[x + 2] * columns[2 * n + j] +
                      row[x + 3] * columns[3 * n + j];
        }
    }
    for (; x < numbers; ++x) {
        const double* column = right.column(x);
        for (Index j = 0; j < right.count; ++j) {
            sums[j] += row[x] * column[j];
        }
    }
}

double usual_scale(const core::AttentionDims& l, const Variant& v)
{
    return 1 / std::sqrt(static_cast<double>(v.one_head ? l.H * l.d_k : l.d_k));
}

double capped(double score, double c, Cap cap)
{
    switch (cap) {
    case Cap::missing: return score;
    case Cap::undivided: return c * math::tanh(score);
    case Cap::unmultiplied: return math::tanh(score / c);
    case Cap::by_score: return score * math::tanh(score);
    default: return c * math::tanh(score / c);
    }
}

struct Capped {
    double c;
    Cap cap;
};

/// A score, -∞ of a hidden key, that is capped after the mask, or after padding.
double capped_last(double score, double mask, double distance, Capped by)
{
    const bool all = by.cap == Cap::after_mask;
    return capped(score + (all ? mask + distance : mask), by.c, by.cap) + (all ? 0 : distance);
}

/// Scale, softcap and the numbers of the mask, in the variant's order.
void shape_scores(const Masking& masking, const MaskRow& mask, std::vector<double>& scores)
{
    const Call& call = masking.call;
    const Variant& v = masking.variant;
    const double scale = scale_of(call, v);
    const std::optional<double> c = call.options.softcap;
    for (std::size_t j = 0; j < scores.size(); ++j) {
        const bool near_raw = v.mask == MaskUse::before_scale, far_raw = masking.asked.before_scale;
        const double of_mask = mask.added.size() == 0 ? 0 : mask.added(static_cast<Index>(j));
        const double of_distance = mask.distances.size() == 0 ? 0 : mask.distances(static_cast<Index>(j));
        const double late_mask = near_raw ? 0 : of_mask, late_distance = far_raw ? 0 : of_distance;
        double s = scores[j] + (near_raw ? of_mask : 0) + (far_raw ? of_distance : 0);
        const bool early = c && v.cap == Cap::before_scale;
        s = (early ? capped(s, *c, v.cap) : s) * scale;
        if (c && (v.cap == Cap::after_mask || v.cap == Cap::after_padding)) {
            const double shown = mask.seen[j] != 0 ? s : -std::numeric_limits<double>::infinity();
            scores[j] = capped_last(shown, late_mask, late_distance, {*c, v.cap});
            continue;
        }
        s = c && !early ? capped(s, *c, v.cap) : s;
        scores[j] = s + (late_mask + late_distance);
    }
}

double hidden_score(const Variant& v, double score)
{
    switch (v.hidden) {
    case HiddenUse::added: return score + v.hidden_number;
    case HiddenUse::added_in_float32: return rounded(score + v.hidden_number, Precision::float32);
    case HiddenUse::set: return v.hidden_number;
    default: return score;
    }
}

/// What becomes of hidden keys, padding among them; `row.counted` says what is seen.
void hide(const Call& call, const Variant& v, ScoreRow& row)
{
    row.empty = std::find(row.counted.begin(), row.counted.end(), char{1}) == row.counted.end();
    const bool capped_mask = call.options.softcap && v.cap == Cap::after_mask;
    if (v.hidden == HiddenUse::right && !(row.empty && v.empty == EmptyRow::unmasked) && !capped_mask) {
        return;
    }
    if (v.hidden == HiddenUse::after_softmax) {
        row.hidden_after.assign(row.counted.size(), 0);
    }
    for (std::size_t j = 0; j < row.counted.size(); ++j) {
        if (row.counted[j] != 0) {
            continue;
        }
        if (v.hidden == HiddenUse::after_softmax) {
            row.hidden_after[j] = 1;
        }
        row.scores[j] = hidden_score(v, row.scores[j]);
        row.counted[j] = 1;
    }
    row.empty = row.counted.empty();
}

/// The keys of the tile before that a last tile takes once more: none if it is full, or alone.
void take_again(const Masking& masking, core::RowPlace place, ScoreRow& row)
{
    const Index tile = masking.variant.tile;
    const Index last = row.end / tile * tile;
    if (last == 0 || last == row.end) {
        return;
    }
    const bool reached = tile_reaches(masking, place, last);
    for (auto j = static_cast<std::size_t>(row.end - tile); j < static_cast<std::size_t>(last); ++j) {
        row.scores.push_back(row.scores[j]);
        row.counted.push_back(reached ? row.counted[j] : char{0});
    }
}

/// ln Σ exp of what counts.
double log_sum(const ScoreRow& row)
{
    const double largest = row.largest();
    double sum = 0;
    for (std::size_t j = 0; j < row.scores.size(); ++j) {
        sum += row.counted[j] != 0 ? math::exp(row.scores[j] - largest) : 0;
    }
    return largest + math::log(sum);
}

/// The head whose sink a row has.
Index sink_head(const core::AttentionDims& l, SinkUse use, core::RowPlace place)
{
    switch (use) {
    case SinkUse::first: return 0;
    case SinkUse::reversed: return l.H - 1 - place.h;
    case SinkUse::of_row: return ((place.b * l.H + place.h) * l.T + place.i) % l.H;
    case SinkUse::of_key_head: return key_head(l, KeyHead::repeated, place.h);
    default: return place.h;
    }
}

/// One more score behind the others, which has no value; what a mistake makes of the sum stands in it.
void add_sink(const Call& call, const Variant& v, core::RowPlace place, ScoreRow& row)
{
    const std::vector<double>& sinks = call.views.sinks;
    if (sinks.empty() || v.sink == SinkUse::missing || v.along != Along::positions) {
        return;
    }
    double sink = sinks[static_cast<std::size_t>(sink_head(call.views.sizes, v.sink, place))];
    if (std::isinf(sink)) {
        return;
    }
    if (!row.empty && v.sink == SinkUse::unshifted) {
        sink += row.largest();
    } else if (!row.empty && v.sink == SinkUse::after_softmax) {
        sink += log_sum(row);
    }
    sink = v.sink == SinkUse::scaled ? sink * scale_of(call, v) : sink;
    row.scores.push_back(v.sink_parts > 0 ? sink + math::log(static_cast<double>(v.sink_parts)) : sink);
    row.counted.push_back(1);
    row.sunk = true;
    row.empty = false;
}

} // namespace

double scale_of(const Call& call, const Variant& v)
{
    const core::AttentionDims l = sizes_of(call, v);
    const double right = call.options.scale.value_or(usual_scale(l, v));
    const auto root = [](Index number) { return 1 / std::sqrt(static_cast<double>(std::max<Index>(number, 1))); };
    switch (v.scale) {
    case Scale::right: return right;
    case Scale::none: return 1;
    case Scale::size: return 1 / static_cast<double>(l.d_k);
    case Scale::model: return root(call.views.sizes.H * l.d_k);
    case Scale::embedding: return root(call.embedding_size.value_or(l.H * l.d_k));
    case Scale::value_size: return root(l.d_v);
    case Scale::keys: return root(l.S);
    case Scale::twice: return right * right;
    case Scale::inverse: return 1 / right;
    case Scale::usual: return usual_scale(l, v);
    case Scale::other: return v.other_scale;
    }
    return right;
}

double ScoreRow::largest() const
{
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < scores.size(); ++j) {
        largest = counted[j] != 0 ? std::max(largest, scores[j]) : largest;
    }
    return largest;
}

Index key_head(const core::AttentionDims& sizes, KeyHead which, Index h)
{
    switch (which) {
    case KeyHead::repeated: return h / (sizes.H / sizes.H_kv);
    case KeyHead::interleaved: return h % sizes.H_kv;
    case KeyHead::first: return 0;
    }
    return h;
}

KeptNumbers SharedProducts::products(const Call& call, const ProductKnobs& knobs, Index b, Index h, Index i)
{
    return products_.get({b, knobs.one_head ? 0 : h, i, knobs}, [&] { return multiply(call, knobs, b, h, i); });
}

std::vector<double> SharedProducts::multiply(const Call& call, const ProductKnobs& knobs, Index b, Index h, Index i)
{
    const core::AttentionDims l = sizes_of(call, knobs);
    const Operand other = knobs.scores_of_values ? Operand::values : Operand::keys;
    const Operand left = knobs.scores_transposed ? other : Operand::queries;
    const Operand right = knobs.scores_transposed ? Operand::queries : other;
    std::vector<double> sums(static_cast<std::size_t>(l.S));
    for (Index head = knobs.one_head ? 0 : h; head < (knobs.one_head ? l.H : h + 1); ++head) {
        const Index keys = key_head(l, knobs.key_head, head);
        const HeadBlock rows = operands_.block(knobs, left, Order::rows, b, left == Operand::queries ? head : keys, i);
        const Index numbers = knobs.lanes == 0 ? rows.size : rows.size / knobs.lanes * knobs.lanes;
        operands_.for_each_block(knobs, right, Order::columns, b, right == Operand::queries ? head : keys,
                                 [&](const HeadBlock& block) { add_products(rows.row(i), block, numbers, sums); });
    }
    return sums;
}

ScoreRow score_row(const Masking& masking, SharedProducts& shared, core::RowPlace place)
{
    const Call& call = masking.call;
    const Variant& v = masking.variant;
    ScoreRow row;
    row.scores = *shared.products(call, v, place.b, place.h, place.i);
    row.keys = static_cast<Index>(row.scores.size());
    row.query = place.i;
    round_all(row.scores, v.scores);
    row.end = end_of_keys(masking, place.b);
    row.padded = end_of_padding(masking, place.b);
    row.scores.resize(static_cast<std::size_t>(std::max(row.keys, row.padded)));
    std::fill(row.scores.begin() + row.end, row.scores.begin() + row.padded, 0.0);
    MaskRow mask = mask_row(masking, place, static_cast<Index>(row.scores.size()));
    shape_scores(masking, mask, row.scores);
    if (v.last_tile == LastTile::capped) {
        std::fill(row.scores.begin() + row.end, row.scores.begin() + row.padded, -call.options.softcap.value_or(0));
    }
    row.counted = std::move(v.cap == Cap::after_padding ? mask.placed : mask.seen);
    if (v.last_tile == LastTile::dropped && row.end > 0) {
        const Index kept = (row.end - 1) / v.tile * v.tile;
        std::fill(row.counted.begin() + kept, row.counted.end(), char{0});
    }
    hide(call, v, row);
    if (v.last_tile == LastTile::slid) {
        take_again(masking, place, row);
    }
    add_sink(call, v, place, row);
    round_all(row.scores, v.softmax);
    round_all(row.scores, v.steps);
    for (double& score : row.scores) {
        score *= v.steps == Precision::exact ? v.exponent : 1;
    }
    return row;
}

} // namespace attn::model::diagnose
