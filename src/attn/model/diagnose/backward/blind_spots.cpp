#include "attn/model/diagnose/backward/blind_spots.hpp"

#include "attn/model/diagnose/backward/mistakes.hpp"
#include "attn/model/diagnose/backward/pass.hpp"
#include "attn/model/diagnose/rounding.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>

namespace attn::model::diagnose {
namespace {

struct GradientTest {
    Item gradient;
    BlindTest test;
};

GradientTest gradient_test(const ResolvedAttend& resolved, const Call& call, const StoredTensor& right,
                           const Criterion& criterion, Gradients& plain)
{
    const Item gradient = *item_called(right.name);
    GradientTest of{gradient,
                    {.plain = std::move(plain[gradient]),
                     .right = by_heads(call, gradient, load<double>(right.view()).values),
                     .exact = {},
                     .tolerance = criterion.tolerance.value_or(usual_tolerance(right.type)),
                     .type = precision_of(right.type)}};
    HalfReference half(resolved, gradient);
    const auto accuracy =
        criterion.strict ? std::nullopt : half.accuracy({{right.name, right.view()}}, right, of.test.tolerance.atol);
    if (accuracy) {
        of.test.allowed = accuracy->allowed;
        of.test.exact = by_heads(call, gradient, half.exact());
    }
    return of;
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

} // namespace

BlindSpots backward_blind_spots(const ResolvedAttend& resolved, const std::vector<StoredTensor>& right,
                                const Criterion& criterion, const core::Work& work)
{
    Call call = call_of(resolved);
    call.options.nan_for_empty_rows = false; // what stands in for a context depends on nothing
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
    std::vector<GradientTest> tests;
    double noise = 0;
    for (const StoredTensor& gradient : right) {
        tests.push_back(gradient_test(resolved, call, gradient, criterion, plain));
        noise = std::max(noise, noise_of(tests.back().test));
    }
    const BlindTest& first = tests.front().test;
    BlindSpots spots{.unseen = {},
                     .sizes = {},
                     .possible = 0,
                     .tolerance = first.tolerance,
                     .half_allowed = first.exact.empty() ? std::nullopt : std::optional(first.allowed),
                     .noise = noise};
    std::vector<const Mistake*> made = backward_mistakes_in(call, wanted);
    std::erase_if(made, [&](const Mistake* mistake) { return !first.exact.empty() && rounds_as(mistake->on({}), first.type); });
    std::vector<std::optional<BlindSpot>> found(made.size());
    core::for_each_block(std::ssize(made), work, [&](Index block) {
        const auto at = static_cast<std::size_t>(block);
        const BlindProgress progress = after_all(tests, pass.differentiate(made[at]->on({}), {}));
        if (progress.unseen()) {
            found[at] = BlindSpot{.mistake = made[at], .why = progress.why(), .largest = progress.largest};
        }
    });
    spots.possible = made.size();
    for (const std::optional<BlindSpot>& spot : found) {
        if (spot) {
            spots.unseen.push_back(*spot);
        }
    }
    return spots;
}

} // namespace attn::model::diagnose
