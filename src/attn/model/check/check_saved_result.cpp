#include "attn/model/check/check.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/check/summary_members.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace attn::model {
namespace {

bool agrees(const Leaf& stated, const Leaf& computed, std::size_t place, const Tolerance& tolerance)
{
    const std::string_view decimal = stated.texts[place];
    const std::string_view text = computed.texts[place];
    // The one way to write a masked score is null; -inf elsewhere is a number like any other.
    if (!is_measured(computed) || decimal == "null" || text == "null") {
        return decimal == text;
    }
    if (tolerance.exact()) {
        return math::canonical_decimal(decimal) == math::canonical_decimal(text);
    }
    return within(number_of(text, *computed.type), number_of(decimal, *computed.type), tolerance);
}

Finding compare(const Leaf& stated, const Leaf* computed, const Tolerance& tolerance)
{
    if (computed == nullptr) {
        return mismatch(stated.name, stated.name + ": this run has none");
    }
    if (computed->shape != stated.shape) {
        return mismatch(stated.name, fmt::format("{}: stated shape {}, computed {}", stated.name, to_string(stated.shape),
                                                 to_string(computed->shape)));
    }
    Tally tally;
    for (std::size_t i = 0; i < stated.texts.size(); ++i) {
        if (stated.texts[i] == computed->texts[i]) { // most of them, and no number has to be read
            tally.count(true);
            continue;
        }
        count(tally, agrees(stated, *computed, i, tolerance), *computed, i,
              [&] { return number_of(stated.texts[i], *computed->type); });
    }
    return finding_of(stated.name, tally, *computed, std::identity(), [&](std::size_t i) { return stated.texts[i]; });
}

/// Warnings without the advice behind their semicolons, so that a result saved when there was other advice agrees.
Leaf without_advice(Leaf warnings)
{
    const TextList whole = std::exchange(warnings.texts, {});
    for (std::size_t i = 0; i < whole.size(); ++i) {
        warnings.texts.push_back(whole[i].substr(0, whole[i].find("; ")));
    }
    return warnings;
}

class LeafComparison {
public:
    LeafComparison(const SavedResult& stated, const SavedResult& computed, const Tolerance& tolerance)
        : stated_(stated), computed_(computed), tolerance_(tolerance)
    {
        for (const Leaf& leaf : computed.leaves) {
            by_name_.try_emplace({leaf.layer, leaf.name}, &leaf);
        }
    }

    [[nodiscard]] std::vector<Finding> findings()
    {
        for (const SavedLayer& layer : stated_.layers) {
            compare_layer(layer);
        }
        compare_leaves({}, "");
        return std::move(findings_);
    }

private:
    void compare_layer(const SavedLayer& layer)
    {
        const std::string name = name_of(layer.place()) + ": ";
        const auto found = std::ranges::find(computed_.layers, layer.place(), &SavedLayer::place);
        if (found == computed_.layers.end()) {
            findings_.push_back(mismatch(name + "there", name + "this run does not have it"));
            return;
        }
        const Recipe& config = layer.config; // older files do not state it
        if (config.dims.heads && (config.dims != found->config.dims || config.attention != found->config.attention)) {
            findings_.push_back(mismatch(name + "dims and attention", name + "stated otherwise than the model has them"));
        }
        compare_leaves(layer.place(), name);
    }

    /// A finding for each array, and one for leaves that tell one thing together.
    void compare_leaves(std::optional<LayerPlace> layer, const std::string& name_of_layer)
    {
        const auto is_own = [&](const Leaf& leaf) { return leaf.layer == layer; };
        auto begin = std::ranges::find_if(stated_.leaves, is_own);
        const auto own_end = std::find_if_not(begin, stated_.leaves.end(), is_own);
        while (begin != own_end) {
            const std::string_view whole = whole_of(begin->name);
            const auto end = std::find_if(begin, own_end, [&](const Leaf& leaf) { return whole_of(leaf.name) != whole; });
            findings_.push_back(compare_whole(whole, {begin, end}));
            findings_.back().what.insert(0, name_of_layer);
            begin = end;
        }
    }

    [[nodiscard]] const Leaf* computed(const Leaf& stated) const
    {
        const auto found = by_name_.find({stated.layer, stated.name});
        return found == by_name_.end() ? nullptr : found->second;
    }

    [[nodiscard]] Finding compare_whole(std::string_view whole, std::span<const Leaf> parts) const
    {
        const Leaf& first = parts.front();
        if (whole == key::warnings) {
            // An older file of a model may have no warning where there is one now.
            const bool older = first.layer && first.texts.empty();
            const Leaf* const written_now = older ? nullptr : computed(first);
            const Leaf now = without_advice(written_now == nullptr ? first : *written_now);
            return compare(without_advice(first), &now, tolerance_);
        }
        if (first.name == whole) {
            return compare(first, computed(first), tolerance_);
        }
        if (std::ranges::none_of(parts, [this](const Leaf& part) { return computed(part) != nullptr; })) {
            return mismatch(std::string(whole), fmt::format("{}: this run has none", whole));
        }
        Finding all;
        all.what = whole;
        for (const Leaf& part : parts) {
            add(all, compare(part, computed(part), tolerance_));
        }
        return whole == name_of(Item::summary) && all.mismatched == 0 ? with_unstated(std::move(all), parts) : all;
    }

    /// Of a summary what was computed, too, but is not stated. A result that was saved before there was a mean has it of no
    /// head.
    [[nodiscard]] Finding with_unstated(Finding finding, std::span<const Leaf> parts) const
    {
        std::set<std::string_view> names;
        std::ranges::transform(parts, std::inserter(names, names.end()), &Leaf::name);
        const auto was_unknown = [&](std::string_view name) {
            return std::ranges::any_of(head_mean::all, [&](const HeadMean& mean) {
                const auto is_mean = [end = fmt::format(".{}", mean.name)](std::string_view any) { return any.ends_with(end); };
                return mean.is_newer && is_mean(name) && std::ranges::none_of(names, is_mean);
            });
        };
        for (const Leaf& leaf : computed_.leaves) {
            const bool beside = leaf.layer == parts.front().layer && whole_of(leaf.name) == finding.what;
            if (beside && !names.contains(leaf.name) && !was_unknown(leaf.name)) {
                return mismatch(finding.what, fmt::format("{}: computed, but not stated", leaf.name));
            }
        }
        return finding;
    }

    const SavedResult& stated_;
    const SavedResult& computed_;
    Tolerance tolerance_;
    std::map<std::pair<std::optional<LayerPlace>, std::string_view>, const Leaf*> by_name_;
    std::vector<Finding> findings_;
};

} // namespace

RunSettings settings_for(const SavedResult& saved, RunSettings settings)
{
    const auto* recipe = std::get_if<Recipe>(&saved.config);
    std::vector<std::string> arrays;
    bool summary = false;
    for (const Leaf& leaf : saved.leaves) {
        std::string whole(whole_of(leaf.name));
        summary = summary || whole == name_of(Item::summary);
        if (whole.starts_with(key::verify)) { // "verify.weights"
            whole.erase(0, key::verify.size() + 1);
        }
        if (whole != key::warnings && whole != key::likeliest && whole != name_of(Item::summary)) {
            arrays.push_back(std::move(whole));
        }
    }
    if (arrays.empty() && !summary) {
        throw Error(ErrorKind::data, "the result states only its config; save one with --show");
    }
    if (recipe != nullptr) {
        settings.show = items_of(*recipe, arrays);
    } else {
        for (const std::string& name : arrays) {
            settings.show.insert(item_called(name).value_or(Item::tokens));
        }
        if (summary) {
            settings.show.insert(Item::summary);
        }
    }
    if (summary) {
        settings.top = saved.top();
    }
    return settings;
}

std::vector<Finding> findings_of(const SavedResult& stated, const SavedResult& computed, const Tolerance& tolerance)
{
    return LeafComparison(stated, computed, tolerance).findings();
}

} // namespace attn::model
