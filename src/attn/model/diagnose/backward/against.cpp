#include "attn/model/diagnose/backward/against.hpp"

#include "attn/model/diagnose/backward/mistakes.hpp"
#include "attn/model/diagnose/backward/pass.hpp"

#include <algorithm>
#include <numeric>

namespace attn::model::diagnose {
namespace {

struct HeldGradient {
    Item gradient;
    Yardstick numbers;
};

/// Candidates of some gradients, and the groups that they are measured on first.
class Measuring {
public:
    Measuring(BackwardPass& pass, const std::vector<HeldGradient>& held, const core::Work& work)
        : pass_(pass), held_(held), work_(work)
    {
    }

    /// On the groups that the right result is farthest from, and some others; on everything where that is little.
    void measure(std::vector<Candidate>& candidates)
    {
        choose_groups(candidates.front());
        core::for_each_block(std::ssize(candidates), work_, [&](Index block) {
            Candidate& candidate = candidates[static_cast<std::size_t>(block)];
            if (pass_.sums_groups() || candidate.variant.backward.heads_swapped) {
                return complete(candidate, {});
            }
            candidate.distance = {};
            for (const Index group : groups_) {
                candidate.distance = sum(candidate.distance, of_group(candidate.variant, group));
            }
            candidate.complete = std::ssize(groups_) == pass_.groups();
        });
    }

    void complete(Candidate& candidate, const core::Work& work)
    {
        if (candidate.complete) {
            return;
        }
        candidate.distance = {};
        const Gradients made = pass_.differentiate(candidate.variant, work);
        for (const HeldGradient& each : held_) {
            candidate.distance.add(each.numbers, 0, made.at(each.gradient));
        }
        candidate.complete = true;
    }

private:
    static Distance sum(Distance a, const Distance& b)
    {
        a.largest = std::max(a.largest, b.largest);
        a.worst = std::max(a.worst, b.worst);
        a.gross = std::max(a.gross, b.gross);
        a.squares += b.squares;
        a.count += b.count;
        a.beyond += b.beyond;
        a.broken += b.broken;
        return a;
    }

    [[nodiscard]] Distance of_group(const Variant& variant, Index group)
    {
        Distance distance;
        BackwardSums sums;
        pass_.differentiate(variant, group, sums, [&](Item gradient, std::size_t at, std::span<const double> numbers) {
            distance.add(std::ranges::find(held_, gradient, &HeldGradient::gradient)->numbers, at, numbers);
        });
        return distance;
    }

    void choose_groups(const Candidate& right)
    {
        constexpr Index enough = Index{1} << 18; // scores
        std::vector<Index> order(static_cast<std::size_t>(pass_.groups()));
        std::iota(order.begin(), order.end(), Index{0});
        Index all = 0;
        std::ranges::for_each(order, [&](Index group) { all += pass_.scores(group); });
        if (all > enough && !pass_.sums_groups()) {
            std::vector<double> far(order.size());
            core::for_each_block(pass_.groups(), work_, [&](Index group) {
                far[static_cast<std::size_t>(group)] = of_group(right.variant, group).worst;
            });
            std::ranges::stable_sort(order, std::greater(), [&](Index group) { return far[static_cast<std::size_t>(group)]; });
            Index kept = 0;
            const auto is_more = [&](Index group) { return std::exchange(kept, kept + pass_.scores(group)) >= enough; };
            order.erase(std::ranges::find_if(order, is_more), order.end());
        }
        groups_ = std::move(order);
    }

    BackwardPass& pass_;
    const std::vector<HeldGradient>& held_;
    const core::Work& work_;
    std::vector<Index> groups_;
};

/// Without what changes one of the gradients that `agree`, beside these.
Diagnosis diagnose(const Call& call, const std::vector<HeldGradient>& held, Show agree, const core::Work& work)
{
    Show wanted;
    for (const HeldGradient& each : held) {
        wanted.insert(each.gradient);
    }
    BackwardPass pass(call, wanted);
    Diagnosis diagnosis;
    diagnosis.pairs_tried = false;
    diagnosis.candidates.emplace_back();
    for (const Mistake* mistake : backward_mistakes_in(call, wanted)) {
        Candidate candidate{.mistakes = {mistake}, .variant = mistake->on({})};
        if (agree.without(gradients_changed(candidate.variant)).size() == agree.size()) {
            diagnosis.candidates.push_back(std::move(candidate));
        }
    }
    diagnosis.tried = diagnosis.candidates.size() - 1;
    Measuring measuring(pass, held, work);
    measuring.measure(diagnosis.candidates);
    const auto compute = [&](Candidate& candidate) { measuring.complete(candidate, work); };
    confirm_nearest(diagnosis.candidates, compute);
    complete_nearest(diagnosis.candidates, compute);
    judge(diagnosis);
    return diagnosis;
}

/// With what half precision may be off by, where that counts.
HeldGradient held(const Call& call, const HeldArray& array, bool as_half)
{
    const Item gradient = *item_called(array.right.name);
    const auto ordered = [&](std::vector<double> values) { return by_heads(call, gradient, std::move(values)); };
    return {gradient, yardstick(ordered(load<double>(array.file.view).values), ordered(reach_of(array.file)), array.file,
                                array.right.type, as_half && array.found.half ? array.found.half->rounding() : 0)};
}

Diagnosis diagnose(const Call& call, const std::vector<HeldArray>& arrays, Show agree, const core::Work& work)
{
    const auto holding = [&](bool as_half) {
        std::vector<HeldGradient> all;
        std::ranges::transform(arrays, std::back_inserter(all),
                               [&](const HeldArray& each) { return held(call, each, as_half); });
        return diagnose(call, all, agree, work);
    };
    Diagnosis found = holding(false);
    const auto rounds_too_much = [](const HeldArray& each) { return each.found.half && !each.found.agrees(); };
    if (found.verdict == Verdict::unknown && std::ranges::any_of(arrays, rounds_too_much)) {
        Diagnosis wide = holding(true); // a kernel with a mistake rounds, too
        if (wide.verdict != Verdict::unknown) {
            found = std::move(wide);
        }
    }
    return found;
}

/// Of what is named, takes off what changes more of these gradients than another does: the others are wrong in another way.
void keep_narrowest(Diagnosis& diagnosis, Show gradients)
{
    const auto changed = [&](const Candidate& each) {
        return gradients.without(gradients.without(gradients_changed(each.variant)));
    };
    std::vector<Show> named;
    for (std::size_t n = 0; n < diagnosis.named; ++n) {
        named.push_back(changed(diagnosis.candidates[n]));
    }
    const auto is_wider = [&](const Candidate& each) {
        const Show own = changed(each);
        return std::ranges::any_of(named, [&](Show other) { return other.without(own).empty() && other.size() < own.size(); });
    };
    const auto end = diagnosis.candidates.begin() + static_cast<std::ptrdiff_t>(diagnosis.named);
    diagnosis.candidates.erase(std::remove_if(diagnosis.candidates.begin(), end, is_wider), end);
    judge(diagnosis);
}

/// How far each of what is named is from this array alone.
void measure_named(Diagnosis& diagnosis, const HeldGradient& array, const std::vector<Gradients>& named)
{
    for (std::size_t n = 0; n < named.size(); ++n) {
        Distance& distance = diagnosis.candidates[n].distance;
        distance = {};
        distance.add(array.numbers, 0, named[n].at(array.gradient));
    }
}

AgreementPattern pattern_of(const std::vector<HeldArray>& arrays)
{
    const auto differs = [&](Item gradient) -> std::optional<bool> {
        const auto found = std::ranges::find(arrays, name_of(gradient), [](const HeldArray& each) { return each.right.name; });
        return found == arrays.end() ? std::nullopt : std::optional(!found->found.agrees());
    };
    if (std::ranges::all_of(arrays, [](const HeldArray& each) { return each.found.agrees(); })) {
        return AgreementPattern::all_agree;
    }
    const std::optional<bool> dq = differs(Item::dq), dk = differs(Item::dk), dv = differs(Item::dv);
    if (!dq || !dk || !dv) {
        return AgreementPattern::some_gradients;
    }
    constexpr std::array by_which{AgreementPattern::other_gradients, AgreementPattern::dq_alone,
                                  AgreementPattern::dk_alone,        AgreementPattern::dv_agrees,
                                  AgreementPattern::dv_alone,        AgreementPattern::dk_agrees,
                                  AgreementPattern::dq_agrees,       AgreementPattern::all_gradients};
    return by_which.at((*dq ? 1U : 0U) + (*dk ? 2U : 0U) + (*dv ? 4U : 0U));
}

} // namespace

Together explain_gradients(const Call& given, std::vector<HeldArray>& arrays, const core::Work& work)
{
    Call call = given;
    call.options.nan_for_empty_rows = false; // what stands in for a context depends on nothing
    Together said{pattern_of(arrays), {}};
    std::vector<HeldArray*> differing;
    Show wanted, agree;
    for (HeldArray& array : arrays) {
        const Item gradient = *item_called(array.right.name);
        wanted.insert(gradient);
        if (array.found.agrees()) {
            agree.insert(gradient);
        }
        if (!array.found.comparison.agrees()) {
            differing.push_back(&array);
        }
    }
    BackwardPass pass(call, wanted);
    const bool too_large = pass.is_too_large();
    if (differing.empty() || too_large || call.options.weights_type || call.options.allow_nonfinite) {
        std::ranges::for_each(differing, [&](HeldArray* array) { array->found.too_large = too_large; });
        return said;
    }
    constexpr Index small = Index{1} << 20;
    const core::AttentionDims& l = call.views.sizes;
    const bool few = l.B * l.H * l.T * l.total() <= small;
    const Diagnosis of_all = diagnose(call, arrays, {}, work);
    const std::span named = std::span(of_all.candidates).first(of_all.named);
    said.named.assign(named.begin(), named.end());
    std::vector<Gradients> made_by_named;
    std::ranges::transform(named, std::back_inserter(made_by_named),
                           [&](const Candidate& each) { return pass.differentiate(each.variant, work); });
    for (HeldArray* array : differing) {
        const Item gradient = *item_called(array->right.name);
        const auto ordered = [&](std::vector<double> values) { return by_heads(call, gradient, std::move(values)); };
        const Tolerance& tolerance = array->found.comparison.tolerance;
        const ComparedTensor right{{array->right.name, array->right.view()}};
        array->found.where = where(dims_of(call, gradient), false, ordered(numbers_beside(array->file, right, tolerance)),
                                   ordered(load<double>(right.view).values), tolerance);
        array->found.of_keys = info_of(gradient).heads == Heads::keys;
        const auto changes_it = [&](const Candidate& each) { return gradients_changed(each.variant).contains(gradient); };
        if (array->found.agrees() && std::ranges::none_of(named, changes_it)) {
            continue; // what is wrong is in others
        }
        const bool by_itself =
            of_all.named == 0 && arrays.size() > 1 && few && !array->found.agrees(); // there may be two mistakes
        Diagnosis& diagnosis =
            array->found.diagnosis.emplace(by_itself ? diagnose(call, std::vector{*array}, agree, work) : of_all);
        if (by_itself) {
            keep_narrowest(diagnosis, wanted);
        } else if (of_all.named > 0) {
            measure_named(diagnosis, held(call, *array, false), made_by_named);
        }
    }
    return said;
}

} // namespace attn::model::diagnose
