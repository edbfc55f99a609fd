#include "attn/model/diagnose/scoring.hpp"

#include "attn/core/portable/products.hpp"
#include "attn/math/elementary.hpp"
#include "attn/model/diagnose/distance.hpp"
#include "attn/model/diagnose/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace attn::model::diagnose {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;

/// What each exponential of a row has subtracted.
Numbers maxima(const ScoreRow& row, Maximum of, Index tile)
{
    const auto width = static_cast<std::size_t>(of == Maximum::row || tile == 0 ? std::max<std::size_t>(row.scores.size(), 1)
                                                                                : static_cast<std::size_t>(tile));
    Numbers result(row.scores.size());
    double largest = -infinity;
    for (std::size_t begin = 0; begin < result.size(); begin += width) {
        const std::size_t end = std::min(begin + width, result.size());
        largest = of == Maximum::tile ? -infinity : largest;
        for (std::size_t j = begin; j < end; ++j) {
            largest = row.counted[j] != 0 ? std::max(largest, row.scores[j]) : largest;
        }
        std::fill(result.begin() + static_cast<std::ptrdiff_t>(begin), result.begin() + static_cast<std::ptrdiff_t>(end),
                  largest);
    }
    for (std::size_t j = 0; j < result.size() && of == Maximum::swapped; ++j) {
        result[j] = 2 * result[j] - largest;
    }
    return result;
}

/// exp(s - maximum); 0 for what does not count.
Numbers exponentials(const ScoreRow& row, const Numbers& maximum)
{
    Numbers result(row.scores.size());
    for (std::size_t j = 0; j < result.size(); ++j) {
        result[j] = row.counted[j] != 0 ? row.scores[j] - maximum[j] : -infinity;
    }
    core::best_portable_kernels().exp(result.data(), std::ssize(result));
    return result;
}

double sum_of(const Numbers& numbers)
{
    double sum = 0;
    for (const double number : numbers) {
        sum += number;
    }
    return sum;
}

Numbers divided(Numbers numbers, double by)
{
    for (double& number : numbers) {
        number /= by;
    }
    return numbers;
}

double rounded_sum(const Numbers& numbers, Precision precision)
{
    return rounded(sum_of(numbers), precision);
}

/// As float32 has them unless the inputs are float64: overflow, underflow, and ∞/∞ or 0/0.
struct Unshifted {
    Unshifted(const Variant& v, const ScoreRow& row, bool wide)
        : subtracted(v.subtracted == Subtracted::or_nothing ? std::max(row.largest(), 0.0) : 0),
          e(exponentials(row, Numbers(row.scores.size(), subtracted)))
    {
        const Precision precision = wide ? Precision::exact : Precision::float32;
        round_all(e, precision);
        round_all(e, v.exponentials);
        sum = rounded_sum(e, precision);
    }

    double subtracted;

    Numbers e;
    double sum;
};

/// What has the largest exponential; 0 of no score.
double largest_of_steps(const Variant& v, const ScoreRow& row)
{
    std::optional<double> largest;
    for (std::size_t j = 0; j < row.scores.size(); ++j) {
        if (row.counted[j] != 0 && (!largest || row.scores[j] * v.exponent > *largest * v.exponent)) {
            largest = row.scores[j];
        }
    }
    return largest.value_or(0);
}

Numbers exponentials_of_steps(const Variant& v, ScoreRow row)
{
    const double largest = largest_of_steps(v, row);
    for (double& score : row.scores) {
        score = v.exponent * rounded(score - largest, v.steps);
    }
    Numbers e = exponentials(row, Numbers(row.scores.size(), 0));
    round_all(e, v.steps);
    return e;
}

/// Each step rounded; the scores are, and not yet times the exponent.
Numbers stepwise(const Variant& v, const ScoreRow& row)
{
    Numbers e = exponentials_of_steps(v, row);
    const double sum = rounded_sum(e, v.steps);
    e = divided(std::move(e), sum);
    round_all(e, v.steps);
    return e;
}

double more_of(More more, double maximum)
{
    return more == More::one ? 1 : more == More::zero_key ? math::exp(-maximum) : 0;
}

Numbers softmax(const Variant& v, const ScoreRow& row)
{
    const Numbers maximum = maxima(row, v.numerator, v.tile);
    Numbers e = exponentials(row, maximum);
    double sum = sum_of(v.denominator == v.numerator ? e : exponentials(row, maxima(row, v.denominator, v.tile)));
    sum += v.more == More::none ? 0 : more_of(v.more, *std::ranges::max_element(maximum));
    round_all(e, v.exponentials);
    return divided(std::move(e), sum);
}

Numbers unshifted_softmax(const Call& call, const Variant& v, const ScoreRow& row)
{
    Unshifted made(v, row, core::is_wide(call.views));
    return divided(std::move(made.e), made.sum);
}

/// The maximum that is left when all keys are done.
double last_maximum(const Variant& v, const ScoreRow& row)
{
    if (v.denominator != Maximum::tile) {
        return row.largest();
    }
    const Numbers own = maxima(row, Maximum::tile, v.tile);
    const auto last = std::ranges::find_if(own.rbegin(), own.rend(), [](double maximum) { return maximum != -infinity; });
    return *last;
}

/// Each part of the keys has its own, and their number divides, or each is weighed by exp(its maximum).
Numbers softmax_of_parts(const Variant& v, const ScoreRow& row)
{
    const auto count = static_cast<Index>(row.scores.size());
    const Index size = v.parts > 0 ? std::max<Index>((count + v.parts - 1) / v.parts, 1) : v.tile;
    const double largest = row.largest();
    Numbers weights;
    double shares = 0;
    for (Index begin = 0; begin < count; begin += size) {
        const Index end = std::min(begin + size, count);
        ScoreRow part;
        part.scores.assign(row.scores.begin() + begin, row.scores.begin() + end);
        part.counted.assign(row.counted.begin() + begin, row.counted.begin() + end);
        const double maximum = part.largest();
        const double share = v.merged_by_maximum ? math::exp(maximum - largest) : 1;
        const Numbers own = maximum == -infinity ? Numbers(part.scores.size(), 0) : softmax(v, part);
        std::ranges::transform(own, std::back_inserter(weights), [&](double weight) { return weight * share; });
        shares += share;
    }
    return divided(std::move(weights), v.merged_by_maximum ? shares : static_cast<double>(v.parts));
}

Numbers softmax_over(const Variant& v, const ScoreRow& row, const Spread& over)
{
    const auto one = [&](const Numbers& numbers) {
        return numbers.size() == 1 ? Numbers(row.scores.size(), numbers.front()) : numbers;
    };
    Numbers e = exponentials(row, v.over == Over::key_sums ? maxima(row, Maximum::row, 0) : one(over.maximum));
    const Numbers sums = one(over.sum);
    for (std::size_t j = 0; j < e.size(); ++j) {
        e[j] = e[j] == 0 ? 0 : e[j] / sums[j];
    }
    return e;
}

Numbers seen_scores(const ScoreRow& row)
{
    Numbers result = row.scores;
    for (std::size_t j = 0; j < result.size(); ++j) {
        result[j] = row.counted[j] != 0 ? result[j] : 0;
    }
    return result;
}

Numbers largest_alone(const ScoreRow& row)
{
    Numbers result(row.scores.size());
    std::optional<std::size_t> at;
    for (std::size_t j = 0; j < result.size(); ++j) {
        if (row.counted[j] != 0 && (!at || row.scores[j] > row.scores[*at])) {
            at = j;
        }
    }
    result[*at] = 1;
    return result;
}

/// A row of plain numbers, all of which count.
ScoreRow plain(Numbers scores)
{
    ScoreRow row;
    row.counted.assign(scores.size(), 1);
    row.scores = std::move(scores);
    return row;
}

Numbers weights_of(const Call& call, const Variant& v, const ScoreRow& row, const Spread* over)
{
    switch (v.weighting) {
    case Weighting::none: return seen_scores(row);
    case Weighting::proportional: {
        const Numbers scores = seen_scores(row);
        return divided(scores, sum_of(scores));
    }
    case Weighting::undivided: return exponentials(row, maxima(row, v.numerator, v.tile));
    case Weighting::unshifted: return exponentials(row, Numbers(row.scores.size(), 0));
    case Weighting::largest: return largest_alone(row);
    case Weighting::uniform: {
        Numbers ones(row.counted.begin(), row.counted.end());
        return divided(ones, sum_of(ones));
    }
    case Weighting::own: {
        Numbers weights(row.scores.size());
        weights[static_cast<std::size_t>(row.query)] = 1;
        return weights;
    }
    case Weighting::softmax:
    case Weighting::twice: break;
    }
    Numbers weights = over != nullptr                       ? softmax_over(v, row, *over)
                      : v.subtracted != Subtracted::maximum ? unshifted_softmax(call, v, row)
                      : v.steps != Precision::exact         ? stepwise(v, row)
                      : v.parts > 0 || v.merged_by_maximum  ? softmax_of_parts(v, row)
                                                            : softmax(v, row);
    if (v.weighting == Weighting::twice) {
        weights.resize(static_cast<std::size_t>(row.keys));
        return softmax({}, plain(std::move(weights)));
    }
    return weights;
}

Numbers empty_row(const Call& call, const Variant& v, Index keys)
{
    const bool is_nan = v.empty == EmptyRow::nan || (v.empty != EmptyRow::uniform && call.options.nan_for_empty_rows);
    const double weight = is_nan ? nan : v.empty == EmptyRow::uniform ? 1 / static_cast<double>(keys) : 0;
    Numbers row(static_cast<std::size_t>(keys), weight);
    return row;
}

} // namespace

void Spread::add(const ScoreRow& row, bool by_key)
{
    maximum.resize(by_key ? row.scores.size() : 1, -infinity);
    sum.resize(maximum.size(), 0);
    for (std::size_t j = 0; j < row.scores.size(); ++j) {
        if (row.counted[j] == 0) {
            continue;
        }
        const std::size_t at = by_key ? j : 0;
        const double s = row.scores[j];
        if (s > maximum[at]) {
            sum[at] = sum[at] * math::exp(maximum[at] - s) + 1;
            maximum[at] = s;
        } else {
            sum[at] += math::exp(s - maximum[at]);
        }
    }
}

void Spread::append(const ScoreRow& row)
{
    Spread of_row;
    of_row.add(row, false);
    const bool empty = of_row.sum.front() == 0;
    maximum.push_back(empty ? 0 : of_row.maximum.front());
    sum.push_back(empty ? 1 : of_row.sum.front());
}

void Spread::add(const Spread& other)
{
    maximum.resize(other.maximum.size(), -infinity);
    sum.resize(other.sum.size(), 0);
    for (std::size_t at = 0; at < sum.size(); ++at) {
        const double largest = std::max(maximum[at], other.maximum[at]);
        if (largest != -infinity) {
            sum[at] = sum[at] * math::exp(maximum[at] - largest) + other.sum[at] * math::exp(other.maximum[at] - largest);
            maximum[at] = largest;
        }
    }
}

double log_of_sum(const Variant& v, ScoreRow row, bool wide)
{
    if (v.lse == LseUse::without_sink && row.sunk) {
        row.counted.back() = 0;
    }
    row.empty = std::ranges::find(row.counted, char{1}) == row.counted.end();
    if (row.empty) {
        return v.empty == EmptyRow::nan ? nan : -infinity;
    }
    const double raised = v.exponent > 0 ? 1 / v.exponent : 1; // another base is that of the exponential alone
    double maximum = 0, sum = 0;
    if (v.subtracted != Subtracted::maximum) {
        const Unshifted of(v, row, wide);
        maximum = of.subtracted;
        sum = of.sum;
    } else if (v.steps != Precision::exact) {
        maximum = raised * v.exponent * largest_of_steps(v, row);
        sum = rounded_sum(exponentials_of_steps(v, row), v.steps);
    } else {
        maximum = raised * last_maximum(v, row);
        sum = sum_of(exponentials(row, maxima(row, v.denominator, v.tile))) + more_of(v.more, row.largest());
    }
    const double natural = (v.lse == LseUse::without_maximum ? 0 : maximum) + math::log(sum);
    return v.lse == LseUse::base_2 ? natural / std::numbers::ln2 : natural;
}

std::vector<double> weigh(const Call& call, const Variant& v, const ScoreRow& row, const Spread* over)
{
    if (row.empty) {
        return empty_row(call, v, row.keys);
    }
    Numbers weights = weights_of(call, v, row, over);
    const std::size_t of_keys = row.scores.size() - (row.sunk ? 1 : 0);
    for (auto j = static_cast<std::size_t>(row.keys); v.last_tile == LastTile::slid && j < std::min(of_keys, weights.size());
         ++j) {
        weights[j - static_cast<std::size_t>(row.keys - row.end + v.tile)] += weights[j]; // of a key that is taken again
    }
    weights.resize(static_cast<std::size_t>(row.keys));
    for (Index j = row.end; j < std::min(row.padded, row.keys); ++j) { // padding has values of zeros
        weights[static_cast<std::size_t>(j)] = 0;
    }
    for (std::size_t j = 0; j < weights.size() && !row.hidden_after.empty(); ++j) {
        weights[j] = row.hidden_after[j] != 0 ? 0 : weights[j];
    }
    round_all(weights, v.softmax);
    round_all(weights, v.weights);
    if (v.denormals_flushed) {
        flush_all(weights, smallest_normal(call.views.queries.type));
    }
    return weights;
}

} // namespace attn::model::diagnose
