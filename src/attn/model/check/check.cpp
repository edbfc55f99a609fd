#include "attn/model/check/check.hpp"

#include "attn/model/recipe/items.hpp"
#include "attn/model/recipe/recipe.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace attn::model {

// ---- how two numbers agree -------------------------------------------------------------------------------------------------

namespace {

/// Sign and magnitude of a float's bits as a number that grows with the float; both zeros give 0.
template <typename Signed, typename Bits>
std::int64_t ordered(Bits bits)
{
    constexpr Bits sign = Bits(Bits{1} << (8 * sizeof(Bits) - 1));
    const auto magnitude = static_cast<std::int64_t>(static_cast<Signed>(bits & Bits(~sign)));
    return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::int64_t step_of(double value, ElementType type)
{
    switch (type) {
    case ElementType::float16: return ordered<std::int16_t>(to_float16(value));
    case ElementType::bfloat16: return ordered<std::int16_t>(to_bfloat16(value));
    case ElementType::float32: return ordered<std::int32_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    default: return ordered<std::int64_t>(std::bit_cast<std::uint64_t>(value));
    }
}

} // namespace

Tolerance usual_tolerance(ElementType type)
{
    switch (type) {
    case ElementType::float16: return {1e-3, 1e-5};
    case ElementType::bfloat16: return {1.6e-2, 1e-5};
    case ElementType::float32: return {1.3e-6, 1e-5};
    case ElementType::float64: return {1e-7, 1e-7};
    default: return {};
    }
}

Tolerance usual_tolerance(ElementType a, ElementType b)
{
    const Tolerance one = usual_tolerance(a);
    const Tolerance other = usual_tolerance(b);
    return {std::max(one.rtol, other.rtol), std::max(one.atol, other.atol)};
}

bool within(double computed, double stated, const Tolerance& tolerance, bool equal_nan)
{
    if (computed == stated || (std::isnan(computed) && std::isnan(stated))) {
        return equal_nan || computed == stated;
    }
    return std::isfinite(computed) && std::isfinite(stated) &&
           std::abs(computed - stated) <= tolerance.atol + tolerance.rtol * std::abs(stated);
}

double absolute_difference(double computed, double stated)
{
    return computed == stated ? 0 : std::abs(computed - stated);
}

std::uint64_t ulps_between(double x, double y, ElementType type)
{
    if (x == y || (std::isnan(x) && std::isnan(y))) {
        return 0;
    }
    if (!std::isfinite(x) || !std::isfinite(y)) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    const std::int64_t a = step_of(x, type);
    const std::int64_t b = step_of(y, type);
    return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
                 : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

void Tally::count(bool agrees)
{
    if (!agrees && mismatched++ == 0) {
        first = compared;
    }
    ++compared;
}

void Tally::count(bool agrees, double difference, double stated)
{
    if (std::isfinite(difference) && difference > largest_absolute) {
        largest_absolute = difference;
        absolute_at = compared;
    }
    if (std::isfinite(difference) && stated != 0 && difference > largest_relative * std::abs(stated)) {
        largest_relative = difference / std::abs(stated);
        relative_at = compared;
    }
    if (!agrees && !std::isfinite(difference) && unmeasured++ == 0) {
        first_unmeasured = compared;
    }
    count(agrees);
}

// ---- findings --------------------------------------------------------------------------------------------------------------

namespace {

void append_index(std::string& name, const std::string& index)
{
    name += '[';
    name += index;
    name += ']';
}

/// "weights[0][2][3]"
std::string name_at(std::string array, const Shape& whole, std::size_t place)
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
                   const std::function<std::string_view(std::size_t)>& stated, const Sides& sides)
{
    Finding finding{std::move(what), tally.compared, tally.mismatched, "", tally.largest_absolute, tally.largest_relative};
    finding.unmeasured = tally.unmeasured > 0;
    if (tally.mismatched > 0) {
        const auto first = static_cast<std::size_t>(tally.first);
        const std::size_t at = place(first);
        const std::string_view text = computed.texts[at];
        finding.first = fmt::format("{}: {} {}, {} {}", name_at(computed.name, computed.shape, at), sides.stated,
                                    display(computed, at, stated(first)), sides.computed,
                                    display(computed, at, text == "null" ? "-inf" : text));
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
