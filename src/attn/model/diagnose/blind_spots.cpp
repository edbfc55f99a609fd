#include "attn/model/diagnose/blind_spots.hpp"

#include "attn/core/parallel.hpp"
#include "attn/model/diagnose/rounding.hpp"
#include "attn/model/diagnose/suggest.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace attn::model::diagnose {
namespace {

/// What every number is held against.
struct Test {
    std::vector<double> plain; ///< without a mistake, as mistakes are made: in float64, in the order of ComparedDims
    std::vector<double> right; ///< as attend() gave it, likewise
    std::vector<double> exact; ///< attend() in float64, likewise; empty where the tolerance alone counts
    Tolerance tolerance;
    double allowed = 0; ///< of |number - exact|
    Precision type;     ///< of the result
};

/// How far the numbers of a mistake have got without being seen.
struct Progress {
    bool same = true, tolerated = true, as_type_allows;
    double largest = 0;

    [[nodiscard]] bool unseen() const { return tolerated || as_type_allows; }

    void add(const Test& test, std::size_t at, double number)
    {
        constexpr double of_another_order = 1e-12; // of sums
        const double made = rounded(number, test.type), difference = absolute_difference(number, test.plain[at]);
        same = same && difference <= of_another_order * std::max(1.0, std::abs(test.plain[at]));
        tolerated = tolerated && within(made, test.right[at], test.tolerance);
        as_type_allows = as_type_allows && (made == test.right[at] || std::abs(made - test.exact[at]) <= test.allowed);
        largest = std::max(largest, difference);
    }
    [[nodiscard]] Blind why() const { return same ? Blind::same : tolerated ? Blind::tolerated : Blind::as_type_allows; }
};

/// Rows of every head, first and last among them, on which most mistakes show.
std::vector<core::RowPlace> first_rows(const ComparedDims& l)
{
    constexpr Index per_head = 12, heads = 8;
    std::vector<core::RowPlace> rows;
    const Index all = l.B * l.H;
    for (Index n = 0; n < std::min(all, heads); ++n) {
        const Index head = all <= heads ? n : n * (all - 1) / (heads - 1);
        for (Index r = 0; r < std::min(l.T, per_head); ++r) {
            const Index i = l.T <= per_head ? r : r * (l.T - 1) / (per_head - 1);
            rows.push_back({head / l.H, head % l.H, i});
        }
    }
    return rows;
}

/// Whether it is still unseen after some rows; of what mixes the rows of a head that would cost as much as all.
bool passes_first_rows(const Call& call, const Variant& variant, Compared compared, const Test& test, SharedProducts& shared)
{
    if (mixes_rows(variant)) {
        return true;
    }
    const ComparedDims l = dims_of(call, compared);
    const Masking masking(call, variant);
    const Across nothing;
    Rows made(masking, shared, nothing);
    Progress progress{.as_type_allows = !test.exact.empty()};
    for (const core::RowPlace place : first_rows(l)) {
        auto at = static_cast<std::size_t>(((place.b * l.H + place.h) * l.T + place.i) * l.width);
        for (const double number : compared_row(made, compared, place)) {
            progress.add(test, at++, number);
        }
        if (!progress.unseen()) {
            return false;
        }
    }
    return true;
}

Progress after_all_rows(const Call& call, const Variant& variant, Compared compared, const Test& test, const core::Work& work)
{
    Progress progress{.as_type_allows = !test.exact.empty()};
    const std::vector<double> numbers = evaluate(call, variant, compared, work);
    for (std::size_t at = 0; at < numbers.size() && progress.unseen(); ++at) {
        progress.add(test, at, numbers[at]);
    }
    return progress;
}

std::vector<double> in_order(const Call& call, Compared compared, const std::vector<double>& numbers)
{
    const bool joined = compared == Compared::context && call.views.side_by_side;
    return joined ? split_into_heads(numbers, dims_of(call, compared)) : numbers;
}

Test test_of(const Call& call, Compared compared, const StoredTensor& right, const Criterion& criterion, HalfReference& half,
             const core::Work& work)
{
    Test test{.plain = evaluate(call, {}, compared, work),
              .right = in_order(call, compared, load<double>(right.view()).values),
              .exact = {},
              .tolerance = criterion.tolerance.value_or(usual_tolerance(right.type)),
              .type = precision_of(right.type)};
    const bool is_half = right.type == ElementType::float16 || right.type == ElementType::bfloat16;
    if (is_half && !criterion.strict) {
        const std::optional<HalfAccuracy> accuracy = half.accuracy({{right.name, right.view()}}, right, test.tolerance.atol);
        test.exact = in_order(call, compared, half.exact());
        test.allowed = accuracy->allowed;
    }
    return test;
}

/// Of each mistake that can be made in other sizes, the first change of them in which it can.
std::map<const Mistake*, Resized> made_in_other_sizes(const ResolvedAttend& call)
{
    std::map<const Mistake*, Resized> changes;
    for (const ChangedInput& other : inputs_of_other_sizes(call)) {
        const AttendInputs inputs = inputs_of(other.tensors);
        for (const Mistake* mistake : mistakes_in(call_of(ResolvedAttend(inputs, other.options, RunSettings())))) {
            changes.try_emplace(mistake, other.change);
        }
    }
    return changes;
}

/// Whether a mistake that needs the change is the right computation without it: one head has no order. Others cannot be made
/// at all: a square of scores that is none.
bool is_right_without(Resized change)
{
    return change == Resized::value_width || change == Resized::wider_heads || change == Resized::more_heads ||
           change == Resized::grouped_heads;
}

} // namespace

BlindSpots blind_spots(const ResolvedAttend& resolved, const StoredTensor& right, const Criterion& criterion,
                       HalfReference& half, const core::Work& work)
{
    const Call call = call_of(resolved);
    if (!call.is_plain() || call.sequences) {
        throw Error(ErrorKind::usage, "--blind-spots cannot be used with --cu-seqlens and --weights-dtype");
    }
    const Compared compared = compared_stage(right.name).value();
    const Test test = test_of(call, compared, right, criterion, half, work);
    const std::map<const Mistake*, Resized> elsewhere = made_in_other_sizes(resolved);

    BlindSpots spots{.unseen = {}, .possible = 0, .tolerance = test.tolerance, .half_allowed = {}};
    if (!test.exact.empty()) {
        spots.half_allowed = test.allowed;
    }
    std::vector<const Mistake*> made;
    for (const Mistake& mistake : mistakes()) {
        const Variant variant = mistake.on({});
        const bool is_rounding = !test.exact.empty() && rounds_as(variant, test.type);
        const auto change = elsewhere.find(&mistake);
        if (!can_compare(variant, compared) || is_rounding) {
            continue;
        }
        if (mistake.applies(call)) {
            made.push_back(&mistake);
        } else if (change != elsewhere.end() && is_right_without(change->second)) {
            spots.unseen.push_back({&mistake, Blind::no_room, 0, change->second});
        }
    }
    spots.possible = made.size() + spots.unseen.size();

    SharedProducts shared(call);
    std::vector<char> passes(made.size());
    core::for_each_block(std::ssize(made), work, [&](Index block) {
        const auto at = static_cast<std::size_t>(block);
        passes[at] = passes_first_rows(call, made[at]->on({}), compared, test, shared) ? 1 : 0;
    });
    for (std::size_t at = 0; at < made.size(); ++at) {
        if (passes[at] == 0) {
            continue;
        }
        const Progress progress = after_all_rows(call, made[at]->on({}), compared, test, work);
        if (!progress.unseen()) {
            continue;
        }
        BlindSpot spot{made[at], progress.why(), progress.largest};
        if (progress.same && !size_counts(*made[at], call)) {
            const bool of_vectors = made[at]->sized == &Variant::lanes || made[at]->sized == &Variant::value_lanes;
            const auto change = elsewhere.find(made[at]);
            spot = {made[at], Blind::no_room, 0,
                    change != elsewhere.end() ? change->second
                    : of_vectors              ? Resized::wider_heads
                                              : Resized::more_keys};
        }
        spots.unseen.push_back(spot);
    }
    std::ranges::sort(spots.unseen, {}, &BlindSpot::mistake);
    return spots;
}

} // namespace attn::model::diagnose
