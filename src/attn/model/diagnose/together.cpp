#include "attn/model/diagnose/together.hpp"

#include "attn/tensor/error.hpp"

#include <algorithm>

namespace attn::model::diagnose {
namespace {

/// Whether an array is there and agrees; nothing where it is not there.
std::optional<bool> agrees(const std::vector<HeldArray>& arrays, Compared compared)
{
    const auto found =
        std::ranges::find_if(arrays, [&](const HeldArray& each) { return compared_stage(each.right.name) == compared; });
    return found == arrays.end() ? std::nullopt : std::optional(found->found.agrees());
}

AgreementPattern pattern_of(const std::vector<HeldArray>& arrays)
{
    const auto disagreeing = std::ranges::count_if(arrays, [](const HeldArray& each) { return !each.found.agrees(); });
    const std::optional<bool> lse = agrees(arrays, Compared::lse), weights = agrees(arrays, Compared::weights);
    const bool context = agrees(arrays, Compared::context).value_or(false);
    return disagreeing == 0                    ? AgreementPattern::all_agree
           : disagreeing == std::ssize(arrays) ? AgreementPattern::all_differ
           : disagreeing == 1 && lse == false  ? AgreementPattern::lse_alone
           : lse != false && weights == true   ? AgreementPattern::behind_weights
           : lse == true && !context           ? AgreementPattern::behind_lse
                                               : AgreementPattern::mixed;
}

/// With all that its mistakes change, also what does not show in the array that they were named for.
Variant whole_variant(const Candidate& candidate)
{
    Variant variant = candidate.own ? candidate.variant : Variant{};
    for (const MistakeInfo* made : candidate.mistakes) {
        const auto listed = std::ranges::find_if(mistakes(), [&](const Mistake& each) { return &each == made; });
        variant = listed == mistakes().end() ? variant : listed->on(variant);
    }
    return variant;
}

/// Whether a variant gives an array, too.
bool gives(const Call& call, Variant variant, const HeldArray& array, const core::Work& work)
{
    const Compared compared = compared_stage(array.right.name).value();
    variant.lse = compared == Compared::lse ? variant.lse : LseUse::right;
    const Variant shown = as_compared(variant, compared);
    Variant written_right = shown; // an array is written wrongly alone, or with the others
    written_right.written = Reading::right;
    written_right.heads_reversed = false;
    written_right.result = Precision::exact;
    if (written_right == Variant{} && (shown == Variant{} || array.found.agrees())) {
        return array.found.agrees();
    }
    if (!can_compare(shown, compared)) {
        return false;
    }
    Candidate candidate{.variant = shown};
    candidate.distance.add(yardstick(call, compared, array.file, array.right), 0, evaluate(call, shown, compared, work));
    return candidate.fits();
}

} // namespace

Together together(const Call& call, const std::vector<HeldArray>& arrays, const core::Work& work)
{
    Together said{pattern_of(arrays), {}};
    for (const HeldArray& array : arrays) {
        if (array.found.told() != Told::mistake) {
            continue;
        }
        for (const Candidate& each : std::span(array.found.diagnosis->candidates).first(array.found.diagnosis->named)) {
            const auto is_it = [&](const Candidate& other) { return other.mistakes == each.mistakes; };
            const Variant variant = whole_variant(each);
            const auto is_given = [&](const HeldArray& other) { return &other == &array || gives(call, variant, other, work); };
            if (std::ranges::none_of(said.named, is_it) && std::ranges::all_of(arrays, is_given)) {
                said.named.push_back(each);
            }
        }
    }
    return said;
}

void try_other_layout(const ResolvedAttend& resolved, std::vector<HeldArray>& arrays)
{
    const auto is_unexplained = [](const HeldArray& each) {
        return !each.found.agrees() && each.found.told() == Told::nothing;
    };
    if (resolved.options.heads || resolved.sequences || !std::ranges::all_of(arrays, is_unexplained)) {
        return;
    }
    Attend options = resolved.options;
    options.layout = options.layout == TensorLayout::bhsd ? TensorLayout::bshd : TensorLayout::bhsd;
    RunSettings settings;
    settings.threads = resolved.settings.threads;
    settings.isa = resolved.settings.isa;
    settings.memory_limit = resolved.settings.memory_limit;
    try {
        const ResolvedAttend other(resolved.inputs, options, settings);
        const AttendResult result = attend(other);
        HalfReference half(other);
        const auto agrees = [&](const HeldArray& each) {
            const StoredTensor& right = *std::ranges::find(result.tensors, each.right.name, &StoredTensor::name);
            if (right.shape != each.file.view.shape) {
                return false;
            }
            const Tolerance& tolerance = each.found.comparison.tolerance;
            const ComparedTensor expected{{right.name, right.view()}};
            return compare({{each.file}, {}}, {{expected}, {}}, {.tolerance = tolerance}).tensors.front().agrees() ||
                   (each.found.half && half.accuracy(each.file, right, tolerance.atol)->suffices());
        };
        if (std::ranges::all_of(arrays, agrees)) {
            std::ranges::for_each(arrays, [&](HeldArray& each) { each.found.agrees_in = options.layout; });
        }
    } catch (const Error&) { // they do not go together so
    }
}

} // namespace attn::model::diagnose
