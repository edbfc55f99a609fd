#include "attn/model/check/finding.hpp"

#include "attn/model/recipe/items.hpp"
#include "attn/model/recipe/recipe.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn::model {
namespace {

void append_index(std::string& name, const std::string& index)
{
    name += '[';
    name += index;
    name += ']';
}

/// "weights[0][2][3]"
std::string name_of(std::string array, const Shape& whole, std::size_t place)
{
    std::vector<std::size_t> indices(whole.size());
    for (std::size_t d = whole.size(); d-- > 0;) {
        const auto length = static_cast<std::size_t>(whole[d]);
        indices[d] = place % length;
        place /= length;
    }
    for (const std::size_t index : indices) {
        append_index(array, std::to_string(index));
    }
    return array;
}

/// A value for a message: words between quotes, overlong decimals cut.
std::string display(const Leaf& leaf, std::size_t place, std::string_view text)
{
    const bool id_of_word = leaf.name == name_of(Item::vocabulary) && place % 2 == 1;
    if (!leaf.type && !id_of_word) {
        return in_quotes(text);
    }
    if (leaf.name == name_of(Item::heads) && text == std::to_string(mean_of_heads)) {
        return "the mean";
    }
    return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 40)) + "…";
}

} // namespace

bool CheckReport::passed() const
{
    return std::all_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.mismatched == 0; });
}

Finding finding_of(std::string what, const Tally& tally, const Leaf& computed,
                   const std::function<std::size_t(std::size_t)>& place,
                   const std::function<std::string_view(std::size_t)>& stated)
{
    Finding finding{std::move(what), tally.compared, tally.mismatched, "", tally.largest_absolute, tally.largest_relative};
    finding.unmeasured = tally.unmeasured > 0;
    if (tally.mismatched > 0) {
        const auto first = static_cast<std::size_t>(tally.first);
        const std::size_t at = place(first);
        const std::string_view text = computed.texts[at];
        finding.first =
            fmt::format("{}: stated {}, computed {}", name_of(computed.name, computed.shape, at),
                        display(computed, at, stated(first)), display(computed, at, text == "null" ? "-inf" : text));
    }
    return finding;
}

Finding mismatch(std::string what, std::string why)
{
    Finding finding;
    finding.what = std::move(what);
    finding.compared = finding.mismatched = 1;
    finding.first = std::move(why);
    return finding;
}

void add(Finding& all, const Finding& one)
{
    all.compared += one.compared;
    all.mismatched += one.mismatched;
    all.first = all.first.empty() ? one.first : all.first;
    all.largest_absolute = std::max(all.largest_absolute, one.largest_absolute);
    all.largest_relative = std::max(all.largest_relative, one.largest_relative);
}

bool is_measured(const Leaf& leaf)
{
    return leaf.type && !is_integer(*leaf.type);
}

void count(Tally& tally, bool agrees, const Leaf& computed, std::size_t place, const std::function<double()>& stated)
{
    if (!is_measured(computed)) {
        return tally.count(agrees);
    }
    const double number = stated();
    tally.count(agrees, absolute_difference(number_of(computed.texts[place], *computed.type), number), number);
}

std::string name_of(std::string array, const At& at)
{
    for (const std::optional<Index>& index : at) {
        append_index(array, index ? std::to_string(*index) : ":");
    }
    return array;
}

} // namespace attn::model
