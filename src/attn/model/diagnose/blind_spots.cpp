#include "attn/model/diagnose/blind_spots.hpp"

#include "attn/core/parallel.hpp"
#include "attn/model/diagnose/backward/blind_spots.hpp"
#include "attn/model/diagnose/rounding.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <set>

namespace attn::model::diagnose {
namespace {

/// Rows of some heads, first and last among them, on which most mistakes show.
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

std::vector<Index> heads_in(const std::vector<core::RowPlace>& rows, Index H)
{
    std::set<Index> heads;
    for (const core::RowPlace place : rows) {
        heads.insert(place.b * H + place.h);
    }
    return {heads.begin(), heads.end()};
}

/// Calls use(row) for those rows under a variant, until it says that it is enough.
template <typename Use>
void for_first_rows(const Call& call, const Variant& variant, Compared compared, SharedProducts& shared, const Use& use)
{
    const Masking masking(call, variant);
    const std::vector<core::RowPlace> rows = first_rows(dims_of(call, compared));
    const Across known = across(masking, shared, heads_in(rows, masking.sizes.H), {});
    Rows made(masking, shared, known);
    for (const core::RowPlace place : rows) {
        if (use(compared_row(made, compared, place))) {
            return;
        }
    }
}

/// A test of those rows alone.
BlindTest in_first_rows(const BlindTest& whole, const ComparedDims& l)
{
    BlindTest few{
        .plain = {}, .right = {}, .exact = {}, .tolerance = whole.tolerance, .allowed = whole.allowed, .type = whole.type};
    for (const auto numbers : {&BlindTest::plain, &BlindTest::right, &BlindTest::exact}) {
        for (const core::RowPlace place : first_rows(l)) {
            const auto first = (whole.*numbers).begin() + ((place.b * l.H + place.h) * l.T + place.i) * l.width;
            (few.*numbers).insert((few.*numbers).end(), first, first + ((whole.*numbers).empty() ? 0 : l.width));
        }
    }
    return few;
}

/// The same of another call, in which the right numbers are those that variants make.
BlindTest in_first_rows(const BlindTest& like, const Call& call, Compared compared, SharedProducts& shared)
{
    BlindTest few{
        .plain = {}, .right = {}, .exact = {}, .tolerance = like.tolerance, .allowed = like.allowed, .type = like.type};
    for_first_rows(call, {}, compared, shared, [&](const std::vector<double>& row) {
        few.plain.insert(few.plain.end(), row.begin(), row.end());
        return false;
    });
    few.right = few.plain;
    round_all(few.right, like.type);
    few.exact = like.exact.empty() ? few.exact : few.plain;
    return few;
}

/// Whether a mistake is still unseen after those rows.
bool passes(const Call& call, const Variant& variant, Compared compared, const BlindTest& of_rows, SharedProducts& shared)
{
    BlindProgress progress{.as_type_allows = !of_rows.exact.empty()};
    std::size_t at = 0;
    for_first_rows(call, variant, compared, shared, [&](const std::vector<double>& row) {
        for (const double number : row) {
            progress.add(of_rows, at++, number);
        }
        return !progress.unseen();
    });
    return progress.unseen();
}

BlindProgress after_all_rows(const Call& call, const Variant& variant, Compared compared, const BlindTest& test,
                             const core::Work& work)
{
    BlindProgress progress{.as_type_allows = !test.exact.empty()};
    const std::vector<double> numbers = evaluate(call, variant, compared, work);
    for (std::size_t at = 0; at < numbers.size() && progress.unseen(); ++at) {
        progress.add(test, at, numbers[at]);
    }
    return progress;
}

BlindTest test_of(const Call& call, Compared compared, const StoredTensor& right, const Criterion& criterion,
                  HalfReference& half, const core::Work& work)
{
    BlindTest test{.plain = evaluate(call, {}, compared, work),
                   .right = by_heads(call, compared, load<double>(right.view()).values),
                   .exact = {},
                   .tolerance = criterion.tolerance.value_or(usual_tolerance(right.type)),
                   .type = precision_of(right.type)};
    const bool is_half = right.type == ElementType::float16 || right.type == ElementType::bfloat16;
    if (is_half && !criterion.strict) {
        const std::optional<HalfAccuracy> accuracy = half.accuracy({{right.name, right.view()}}, right, test.tolerance.atol);
        test.exact = by_heads(call, compared, half.exact(right.name));
        test.allowed = accuracy->allowed;
    }
    return test;
}

/// Whether a change is one of sizes. (What has larger scores may be smaller only to be tried faster.)
bool makes_room(InputChange change)
{
    return change != InputChange::larger_scores && change != InputChange::numbers;
}

/// Whether a mistake that needs the change is the right computation without it: one head has no order. Others cannot be made
/// at all: a square of scores that is none.
bool is_right_without(InputChange change)
{
    constexpr std::array without_room{InputChange::more_keys, InputChange::few_keys, InputChange::all, InputChange::cached};
    return std::ranges::find(without_room, change) == without_room.end();
}

/// The mistakes that can be made in other sizes, and are the right computation in these.
std::set<const Mistake*> made_elsewhere(const std::vector<ChangedInput>& others, const BlindExam& exam)
{
    std::map<const Mistake*, InputChange> changes; // the first for each
    for (const ChangedInput& other : others) {
        const AttendInputs inputs = inputs_of(other.tensors);
        const Call call = call_of(ResolvedAttend(inputs, other.options, RunSettings()));
        for (const Mistake* mistake : exam.mistakes) {
            if (makes_room(other.change) && mistake->applies(call) && size_counts(*mistake, call)) {
                changes.try_emplace(mistake, other.change);
            }
        }
    }
    std::set<const Mistake*> found;
    for (const auto& [mistake, change] : changes) {
        if (is_right_without(change)) {
            found.insert(mistake);
        }
    }
    return found;
}

std::map<InputChange, core::AttentionDims> sizes_of(const std::vector<ChangedInput>& others)
{
    std::map<InputChange, core::AttentionDims> sizes;
    for (const ChangedInput& other : others) {
        if (other.change != InputChange::numbers) {
            sizes[other.change] = other.sizes;
        }
    }
    return sizes;
}

/// Says of each mistake which change would show it, if one would.
void find_changes(std::vector<BlindSpot>& unseen, const Call& own, const std::vector<ChangedInput>& others,
                  const BlindExam& exam, const core::Work& work)
{
    for (const ChangedInput& other : others) {
        const AttendInputs inputs = inputs_of(other.tensors);
        const Call call = call_of(ResolvedAttend(inputs, other.options, RunSettings()));
        const std::function<bool(const Mistake&)> passes = exam.passes_in(call);
        core::for_each_block(std::ssize(unseen), work, [&](Index block) {
            BlindSpot& spot = unseen[static_cast<std::size_t>(block)];
            const bool room = makes_room(other.change) || size_counts(*spot.mistake, own);
            if (!spot.change && room && spot.mistake->applies(call) && !passes(*spot.mistake)) {
                spot.change = other.change;
            }
        });
    }
}

/// Of a stage of the forward.
class ForwardTest {
public:
    ForwardTest(const Call& call, Compared compared, BlindTest test, const core::Work& work)
        : call_(call), compared_(compared), test_(std::move(test)), work_(work)
    {
    }

    [[nodiscard]] std::vector<const Mistake*> mistakes() const
    {
        std::vector<const Mistake*> listed;
        for (const Mistake& mistake : diagnose::mistakes()) {
            const Variant variant = mistake.on({});
            const bool is_rounding = !test_.exact.empty() && rounds_as(variant, test_.type);
            if (can_compare(variant, compared_) && !is_rounding) {
                listed.push_back(&mistake);
            }
        }
        return listed;
    }

    [[nodiscard]] std::vector<BlindSpot> unseen(const std::vector<const Mistake*>& made) const
    {
        SharedProducts shared(call_);
        const BlindTest of_rows = in_first_rows(test_, dims_of(call_, compared_));
        std::vector<char> seen(made.size());
        core::for_each_block(std::ssize(made), work_, [&](Index block) {
            const auto at = static_cast<std::size_t>(block);
            const Variant variant = made[at]->on({});
            // Of what mixes the rows of a head some would cost as much as all.
            seen[at] = mixes_rows(variant) || passes(call_, variant, compared_, of_rows, shared) ? 0 : 1;
        });
        std::vector<BlindSpot> found;
        for (std::size_t at = 0; at < made.size(); ++at) {
            if (seen[at] != 0) {
                continue;
            }
            const BlindProgress progress = after_all_rows(call_, made[at]->on({}), compared_, test_, work_);
            if (progress.unseen()) {
                found.push_back({made[at], progress.why(), progress.largest});
            }
        }
        return found;
    }

    [[nodiscard]] std::function<bool(const Mistake&)> passes_in(const Call& other) const
    {
        auto shared = std::make_shared<SharedProducts>(other);
        auto there = std::make_shared<const BlindTest>(in_first_rows(test_, other, compared_, *shared));
        return [&other, compared = compared_, shared, there](const Mistake& mistake) {
            return passes(other, mistake.on({}), compared, *there, *shared);
        };
    }

private:
    const Call& call_;
    Compared compared_;
    BlindTest test_;
    const core::Work& work_;
};

} // namespace

void BlindProgress::add(const BlindTest& test, std::size_t at, double number)
{
    constexpr double of_another_order = 1e-12; // of sums
    const double made = rounded(number, test.type), difference = absolute_difference(number, test.plain[at]);
    same = same && difference <= of_another_order * std::max(1.0, std::abs(test.plain[at]));
    // Rounding may have taken the right number itself out of the tolerance.
    tolerated = tolerated && (within(made, test.right[at], test.tolerance) ||
                              within(made, rounded(test.plain[at], test.type), test.tolerance));
    as_type_allows = as_type_allows && (made == test.right[at] || std::abs(made - test.exact[at]) <= test.allowed);
    largest = std::max(largest, difference);
}

BlindSpots spots_of(const BlindTest& test)
{
    return {.unseen = {},
            .sizes = {},
            .possible = 0,
            .tolerance = test.tolerance,
            .half_allowed = test.exact.empty() ? std::nullopt : std::optional(test.allowed),
            .noise = noise_of(test)};
}

double noise_of(const BlindTest& test)
{
    double of_tolerance = 0, of_half = test.exact.empty() ? infinity : 0;
    for (std::size_t at = 0; at < test.right.size(); ++at) {
        const double right = test.right[at], far = absolute_difference(right, test.plain[at]);
        if (far > 0) { // and neither NaN
            of_tolerance = std::max(of_tolerance, far / (test.tolerance.atol + test.tolerance.rtol * std::abs(right)));
            of_half = test.exact.empty() ? of_half : std::max(of_half, std::abs(right - test.exact[at]) / test.allowed);
        }
    }
    return std::min(of_tolerance, of_half);
}

void examine(const ResolvedAttend& resolved, const BlindExam& exam, BlindSpots& spots, const core::Work& work)
{
    const Call call = call_of(resolved);
    const std::vector<ChangedInput> others = changed_inputs(resolved);
    const std::set<const Mistake*> elsewhere = made_elsewhere(others, exam);
    std::vector<const Mistake*> made;
    for (const Mistake* mistake : exam.mistakes) {
        if (mistake->applies(call) && (size_counts(*mistake, call) || !others.empty())) {
            made.push_back(mistake);
        } else if (elsewhere.contains(mistake)) {
            spots.unseen.push_back({mistake, Blind::same});
        }
    }
    spots.possible = made.size() + spots.unseen.size();
    std::ranges::move(exam.unseen(made), std::back_inserter(spots.unseen));
    std::ranges::sort(spots.unseen, {}, [&](const BlindSpot& spot) { return std::ranges::find(exam.mistakes, spot.mistake); });
    if (exam.changes) {
        find_changes(spots.unseen, call, others, exam, work);
    }
    for (BlindSpot& spot : spots.unseen) {
        const bool has_room = spot.mistake->applies(call) && size_counts(*spot.mistake, call);
        if (spot.why == Blind::same && spot.change && !has_room) {
            spot = {spot.mistake, Blind::no_room, 0, spot.change};
        }
    }
    spots.sizes = sizes_of(others);
}

BlindSpots blind_spots(const ResolvedAttend& resolved, const std::vector<StoredTensor>& right, const Criterion& criterion,
                       const core::Work& work, bool changes)
{
    if (is_gradient(resolved.stages.front().item)) {
        return backward_blind_spots(resolved, right, criterion, work, changes);
    }
    const Call call = call_of(resolved);
    if (!call.is_plain() || call.sequences) {
        throw Error(ErrorKind::usage, "--blind-spots cannot be used with --cu-seqlens and --weights-dtype");
    }
    const Compared compared = compared_stage(right.front().name).value();
    HalfReference half(resolved);
    const BlindTest test = test_of(call, compared, right.front(), criterion, half, work);
    BlindSpots spots = spots_of(test);
    const ForwardTest forward(call, compared, test, work);
    examine(resolved,
            {.mistakes = forward.mistakes(),
             .unseen = [&](const std::vector<const Mistake*>& made) { return forward.unseen(made); },
             .passes_in = [&](const Call& other) { return forward.passes_in(other); },
             .changes = changes},
            spots, work);
    return spots;
}

std::vector<BlindSpot> unseen_here_alone(const BlindSpots& here, const BlindSpots& there)
{
    std::vector<BlindSpot> alone = here.unseen;
    std::erase_if(alone, [&](const BlindSpot& spot) { return there.has_unseen(*spot.mistake); });
    return alone;
}

RevealingInput revealing_input(const ResolvedAttend& resolved, const BlindSpots& own, const Criterion& criterion,
                               const core::Work& work)
{
    constexpr double most_noise = 0.5;
    RunSettings settings;
    settings.threads = work.threads;
    settings.isa = resolved.settings.isa;
    settings.memory_limit = resolved.settings.memory_limit;
    const auto spots_in = [&](const std::vector<StoredTensor>& tensors, bool changes) {
        const AttendInputs inputs = inputs_of(tensors);
        const ResolvedAttend there(inputs, resolved.options, settings);
        return blind_spots(there, attend(there).tensors, criterion, work, changes);
    };
    RevealingInput best;
    std::pair<std::size_t, std::size_t> most{1, 0}; // of what is new, and of all
    for (std::size_t way = 0; way < ways_to_draw(resolved); ++way) {
        RevealingInput drawn{drawn_anew(resolved, way), {}};
        drawn.spots = spots_in(drawn.tensors, false);
        const std::pair shows(unseen_here_alone(own, drawn.spots).size(), drawn.spots.seen());
        if (drawn.spots.noise <= most_noise && shows > most) {
            most = shows;
            best = std::move(drawn);
        }
    }
    if (!best.tensors.empty()) {
        best.spots = spots_in(best.tensors, true);
    }
    return best;
}

} // namespace attn::model::diagnose
