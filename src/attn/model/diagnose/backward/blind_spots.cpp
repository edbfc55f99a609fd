#include "attn/model/diagnose/backward/blind_spots.hpp"

#include "attn/model/diagnose/backward/mistakes.hpp"
#include "attn/model/diagnose/backward/pass.hpp"
#include "attn/model/diagnose/rounding.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <memory>

namespace attn::model::diagnose {
namespace {

struct GradientTest {
    Item gradient;
    BlindTest test;
};

GradientTest gradient_test(HalfReference& half, const Call& call, const StoredTensor& right, const Criterion& criterion,
                           Gradients& plain)
{
    const Item gradient = *item_called(right.name);
    GradientTest of{gradient,
                    {.plain = std::move(plain[gradient]),
                     .right = by_heads(call, gradient, load<double>(right.view()).values),
                     .exact = {},
                     .tolerance = criterion.tolerance.value_or(usual_tolerance(right.type)),
                     .type = precision_of(right.type)}};
    const auto accuracy =
        criterion.strict ? std::nullopt : half.accuracy({{right.name, right.view()}}, right, of.test.tolerance.atol);
    if (accuracy) {
        of.test.allowed = accuracy->allowed;
        of.test.exact = by_heads(call, gradient, half.exact(right.name));
    }
    return of;
}

/// The same of another call, in which the right numbers are those that variants make.
std::vector<GradientTest> in_other_call(const std::vector<GradientTest>& tests, Gradients plain)
{
    std::vector<GradientTest> there;
    for (const GradientTest& like : tests) {
        BlindTest& test = there.emplace_back(like).test;
        test.plain = std::move(plain[like.gradient]);
        test.right = test.plain;
        round_all(test.right, test.type);
        test.exact = test.exact.empty() ? test.exact : test.plain;
    }
    return there;
}

/// Of all tests together, each of which may see a mistake.
BlindProgress after_all(const std::vector<GradientTest>& tests, const Gradients& made)
{
    BlindProgress all{.as_type_allows = true};
    all.tolerated = true;
    for (const GradientTest& of : tests) {
        BlindProgress own{.as_type_allows = !of.test.exact.empty()};
        const std::vector<double>& numbers = made.at(of.gradient);
        for (std::size_t at = 0; at < numbers.size() && own.unseen(); ++at) {
            own.add(of.test, at, numbers[at]);
        }
        all.same = all.same && own.same;
        all.tolerated = all.tolerated && own.tolerated;
        all.as_type_allows = all.as_type_allows && own.unseen();
        all.largest = std::max(all.largest, own.largest);
    }
    return all;
}

/// As a backward sees it: what stands in for the context of a row without keys depends on nothing.
Call without_nan(Call call)
{
    call.options.nan_for_empty_rows = false;
    return call;
}

/// Another call, with what outlives a question.
struct OtherCall {
    OtherCall(const Call& its_call, Show wanted, const std::vector<GradientTest>& like)
        : call(without_nan(its_call)), pass(call, wanted), tests(in_other_call(like, pass.differentiate({}, {})))
    {
    }

    /// By the first and the last group, if nothing is summed over all.
    bool passes(const Variant& variant)
    {
        if (pass.sums_groups() || variant.backward.heads_swapped || pass.groups() == 0) {
            return after_all(tests, pass.differentiate(variant, {})).unseen();
        }
        return passes(variant, 0) && passes(variant, pass.groups() - 1);
    }

    bool passes(const Variant& variant, Index group)
    {
        BackwardSums sums;
        bool unseen = true;
        pass.differentiate(variant, group, sums, [&](Item gradient, std::size_t first, std::span<const double> numbers) {
            const BlindTest& test = std::ranges::find(tests, gradient, &GradientTest::gradient)->test;
            BlindProgress own{.as_type_allows = !test.exact.empty()};
            for (std::size_t at = 0; at < numbers.size() && own.unseen(); ++at) {
                own.add(test, first + at, numbers[at]);
            }
            unseen = unseen && own.unseen();
        });
        return unseen;
    }

    Call call;
    BackwardPass pass;
    std::vector<GradientTest> tests;
};

} // namespace

BlindSpots backward_blind_spots(const ResolvedAttend& resolved, const std::vector<StoredTensor>& right,
                                const Criterion& criterion, const core::Work& work, bool changes)
{
    const Call call = without_nan(call_of(resolved));
    Show wanted;
    for (const StoredTensor& gradient : right) {
        wanted.insert(*item_called(gradient.name));
    }
    BackwardPass pass(call, wanted);
    if (pass.is_too_large() || call.options.weights_type) {
        throw Error(ErrorKind::usage, "--blind-spots: gradients are tested in heads of up to 2048 queries and keys, without "
                                      "--weights-dtype");
    }
    Gradients plain = pass.differentiate({}, work);
    HalfReference half(resolved);
    std::vector<GradientTest> tests;
    double noise = 0;
    for (const StoredTensor& gradient : right) {
        tests.push_back(gradient_test(half, call, gradient, criterion, plain));
        noise = std::max(noise, noise_of(tests.back().test));
    }
    const BlindTest& first = tests.front().test;
    BlindSpots spots = spots_of(first);
    spots.noise = noise;
    std::vector<const Mistake*> mistakes = backward_mistakes_of(wanted);
    std::erase_if(mistakes, [&](const Mistake* each) { return !first.exact.empty() && rounds_as(each->on({}), first.type); });
    const auto unseen = [&](const std::vector<const Mistake*>& made) {
        std::vector<std::optional<BlindSpot>> found(made.size());
        core::for_each_block(std::ssize(made), work, [&](Index block) {
            const auto at = static_cast<std::size_t>(block);
            const BlindProgress progress = after_all(tests, pass.differentiate(made[at]->on({}), {}));
            if (progress.unseen()) {
                found[at] = BlindSpot{.mistake = made[at], .why = progress.why(), .largest = progress.largest};
            }
        });
        std::vector<BlindSpot> spots_found;
        for (const std::optional<BlindSpot>& spot : found) {
            if (spot) {
                spots_found.push_back(*spot);
            }
        }
        return spots_found;
    };
    const auto passes_in = [&](const Call& other) {
        auto there = std::make_shared<OtherCall>(other, wanted, tests);
        return [there](const Mistake& mistake) { return there->passes(mistake.on({})); };
    };
    examine(resolved, {.mistakes = std::move(mistakes), .unseen = unseen, .passes_in = passes_in, .changes = changes}, spots,
            work);
    return spots;
}

} // namespace attn::model::diagnose
