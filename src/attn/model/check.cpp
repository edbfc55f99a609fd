#include "attn/model/check.hpp"

#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

namespace attn::model {
namespace {

// ---- what was computed -----------------------------------------------------------------------------------------------

/// One array of a result, element by element in row-major order, numbers and words alike.
struct Computed {
    Shape shape;
    std::function<std::string(std::size_t)> text; ///< a number's shortest decimal, or the word
    std::function<double(std::size_t)> value;     ///< empty for words and ids, which are compared as text
    Dtype dtype = Dtype::float64;
};

Computed words(const std::vector<std::string>& list)
{
    return {{static_cast<Index>(list.size())}, [&list](std::size_t i) { return list[i]; }, {}};
}

Computed integers(const std::vector<Index>& list)
{
    return {{static_cast<Index>(list.size())}, [&list](std::size_t i) { return std::to_string(list[i]); }, {}};
}

/// Rows of a word and its id.
Computed vocabulary(const std::vector<std::string>& list)
{
    const auto text = [&list](std::size_t i) { return i % 2 == 0 ? list[i / 2] : std::to_string(i / 2); };
    return {{static_cast<Index>(list.size()), 2}, text, {}};
}

template <typename Scalar>
Computed numbers(const Tensor<Scalar>& tensor)
{
    return {tensor.shape, [&tensor](std::size_t i) { return math::shortest(tensor.values[i]); },
            [&tensor](std::size_t i) { return static_cast<double>(tensor.values[i]); },
            std::is_same_v<Scalar, float> ? Dtype::float32 : Dtype::float64};
}

/// Nothing when the run has no such array.
std::optional<Computed> find(const Result& result, const std::string& name)
{
    const auto unless_empty = [](const auto& list, auto make) { return list.empty() ? std::optional<Computed>() : make(list); };
    if (name == "tokens" || name == "key_tokens") {
        return unless_empty(name == "tokens" ? result.tokens : result.key_tokens, words);
    }
    if (name == "vocabulary") {
        return result.vocabulary ? std::optional(vocabulary(*result.vocabulary)) : std::nullopt;
    }
    if (name == "token_ids" || name == "key_token_ids") {
        return unless_empty(name == "token_ids" ? result.token_ids : result.key_token_ids, integers);
    }
    if (name == "query_positions") {
        return unless_empty(result.query_positions, integers);
    }
    const AnyTensor* tensor = result.find(name);
    return tensor == nullptr ? std::nullopt : std::optional(std::visit([](const auto& t) { return numbers(t); }, *tensor));
}

/// The item whose part an array is: parameters go together.
Item item_of(const std::string& name)
{
    const auto found = std::find(item_names.begin(), item_names.end(), name);
    return found == item_names.end() ? Item::parameters : static_cast<Item>(found - item_names.begin());
}

Show shown(const Recipe& recipe, const std::vector<std::string>& names)
{
    const Show existing = everything(recipe);
    Show show;
    for (const std::string& name : names) {
        if (name != "query_positions" && existing.contains(item_of(name))) {
            show.insert(item_of(name));
        }
    }
    return show.empty() ? Show{Item::tokens} : show;
}

// ---- parts of arrays -------------------------------------------------------------------------------------------------

using At = std::vector<std::optional<Index>>;

/// The elements that `at` leaves of an array.
struct Part {
    Shape shape;
    std::vector<std::size_t> places; ///< of its elements, counted in the whole array
};

/// Nothing when the indices do not fit.
std::optional<Part> part_of(const Shape& whole, const At& at)
{
    if (at.size() > whole.size()) {
        return std::nullopt;
    }
    Part part;
    part.places = {0};
    for (std::size_t d = 0; d < whole.size(); ++d) {
        Index begin = 0;
        Index end = whole[d];
        if (d < at.size() && at[d]) {
            begin = *at[d];
            end = begin + 1;
        } else {
            part.shape.push_back(whole[d]);
        }
        if (end > whole[d]) {
            return std::nullopt;
        }
        std::vector<std::size_t> finer;
        finer.reserve(part.places.size() * static_cast<std::size_t>(end - begin));
        for (const std::size_t place : part.places) {
            for (Index i = begin; i < end; ++i) {
                finer.push_back(place * static_cast<std::size_t>(whole[d]) + static_cast<std::size_t>(i));
            }
        }
        part.places = std::move(finer);
    }
    return part;
}

void append_index(std::string& name, const std::string& index)
{
    name += '[';
    name += index;
    name += ']';
}

std::string name_of(std::string array, const At& at)
{
    for (const std::optional<Index>& index : at) {
        append_index(array, index ? std::to_string(*index) : ":");
    }
    return array;
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

// ---- comparing -------------------------------------------------------------------------------------------------------

/// A stated decimal as a number of the type that was computed. "null" is a masked score, -inf.
double number_of(std::string_view text, Dtype dtype)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "null") {
        return -infinity;
    }
    const char* const end = text.data() + text.size();
    double value = 0;
    if (dtype == Dtype::float32) {
        float single = 0;
        if (const auto [stop, error] = std::from_chars(text.data(), end, single); error == std::errc() && stop == end) {
            return static_cast<double>(single);
        }
    }
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) {
        const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos || text.find("0.") <= 1;
        value = tiny ? 0 : infinity;
        return text.front() == '-' ? -value : value;
    }
    if (error != std::errc() || stop != end) {
        throw Error(ErrorKind::data, "a stated number", quoted(text), "a decimal");
    }
    return dtype == Dtype::float32 ? static_cast<double>(static_cast<float>(value)) : value;
}

bool within(double computed, double stated, const Tolerance& tolerance)
{
    if (computed == stated || (std::isnan(computed) && std::isnan(stated))) {
        return true;
    }
    return std::isfinite(computed) && std::isfinite(stated) &&
           std::abs(computed - stated) <= tolerance.atol + tolerance.rtol * std::abs(stated);
}

bool is_word(const std::string& array, std::size_t place)
{
    return array == "tokens" || array == "key_tokens" || array == "warnings" || (array == "vocabulary" && place % 2 == 0);
}

/// A value for a message: words between quotes, overlong decimals cut.
std::string display(const std::string& array, std::size_t place, const std::string& text)
{
    if (is_word(array, place)) {
        return quoted(text);
    }
    return text.size() <= 40 ? text : text.substr(0, 40) + "…";
}

Finding mismatch(std::string what, std::string why)
{
    Finding finding;
    finding.what = std::move(what);
    finding.compared = finding.mismatched = 1;
    finding.first = std::move(why);
    return finding;
}

/// Counts what agrees and keeps the first mismatch and the largest differences.
class Tally {
public:
    Tally(std::string what, std::string array) : array_(std::move(array)) { finding_.what = std::move(what); }

    void count(bool agrees, const Computed& computed, std::size_t place, const std::string& stated)
    {
        ++finding_.compared;
        if (!agrees && finding_.mismatched++ == 0) {
            finding_.first = name_of(array_, computed.shape, place) + ": stated " + display(array_, place, stated) +
                             ", computed " + display(array_, place, computed.text(place));
        }
    }
    void measure(double computed, double stated)
    {
        const double absolute = computed == stated ? 0 : std::abs(computed - stated);
        if (std::isfinite(absolute)) {
            finding_.largest_absolute = std::max(finding_.largest_absolute, absolute);
            finding_.largest_relative = std::max(finding_.largest_relative, stated == 0 ? 0 : absolute / std::abs(stated));
        }
    }
    [[nodiscard]] Finding finding() && { return std::move(finding_); }

private:
    std::string array_;
    Finding finding_;
};

// ---- recipes ---------------------------------------------------------------------------------------------------------

bool agrees(const Published& published, const Computed& computed, std::size_t place, const std::string& stated)
{
    if (!computed.value) {
        return stated == computed.text(place);
    }
    const double value = computed.value(place);
    if (published.printed) {
        const math::Printed printed = math::parse_printed(stated);
        return published.units > 0 ? math::agrees_within(printed, value, published.units) : math::agrees(printed, value);
    }
    const Tolerance tolerance{published.rtol, published.atol};
    return within(value, number_of(stated, tolerance.exact() ? computed.dtype : Dtype::float64), tolerance);
}

Finding compare(const Published& published, const Result& result)
{
    const std::string what = name_of(published.array, published.at);
    const std::optional<Computed> computed = find(result, published.array);
    if (!computed) {
        return mismatch(what, what + ": stated, but no part of this run");
    }
    const std::optional<Part> part = part_of(computed->shape, published.at);
    if (!part) {
        return mismatch(what, what + ": these indices do not fit the computed shape " + to_string(computed->shape));
    }
    if (part->shape != published.shape) {
        return mismatch(what, what + ": stated shape " + to_string(published.shape) + ", computed " + to_string(part->shape));
    }
    if (published.values.empty()) {
        Finding finding;
        finding.what = what + " shape";
        finding.compared = 1;
        return finding;
    }
    Tally tally(what, published.array);
    for (std::size_t i = 0; i < part->places.size(); ++i) {
        const std::size_t place = part->places[i];
        const std::string& stated = published.values.at(i);
        tally.count(agrees(published, *computed, place, stated), *computed, place, stated);
        if (computed->value) {
            tally.measure(computed->value(place), number_of(stated, Dtype::float64));
        }
    }
    return std::move(tally).finding();
}

Finding compare(const PrecisionClaim& claim, const Result& single, const Result& exact)
{
    const std::optional<Computed> rough = find(single, claim.array);
    const std::optional<Computed> fine = find(exact, claim.array);
    const std::string what = claim.array + " in float32 against float64";
    if (!rough || !fine || !rough->value) {
        return mismatch(what, claim.array + ": no array of numbers in this run");
    }
    Tally tally(what, claim.array);
    for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(fine->shape)); ++i) {
        const double x = rough->value(i);
        const double y = fine->value(i);
        tally.count(within(x, y, {claim.rtol, claim.atol}), *rough, i, fine->text(i));
        tally.measure(x, y);
    }
    return std::move(tally).finding();
}

// ---- saved results ---------------------------------------------------------------------------------------------------

bool agrees(const StatedArray& stated, const Computed& computed, std::size_t place, const Tolerance& tolerance)
{
    const std::string& decimal = stated.decimals[place];
    const std::string text = computed.text(place);
    if (!computed.value) {
        return decimal == text;
    }
    // The one way to write a masked score is null; -inf elsewhere is a number like any other.
    const bool masked = stated.name == "masked_scores" && text == "-inf";
    if (masked || decimal == "null") {
        return masked && decimal == "null";
    }
    if (tolerance.exact()) {
        return math::canonical_decimal(decimal) == math::canonical_decimal(text);
    }
    return within(computed.value(place), number_of(decimal, Dtype::float64), tolerance);
}

Finding compare(const StatedArray& stated, const std::optional<Computed>& computed, const Tolerance& tolerance)
{
    if (!computed) {
        return mismatch(stated.name, stated.name + ": stated, but no part of this run");
    }
    if (computed->shape != stated.shape) {
        return mismatch(stated.name,
                        stated.name + ": stated shape " + to_string(stated.shape) + ", computed " + to_string(computed->shape));
    }
    Tally tally(stated.name, stated.name);
    for (std::size_t i = 0; i < stated.decimals.size(); ++i) {
        tally.count(agrees(stated, *computed, i, tolerance), *computed, i, stated.decimals[i]);
        if (computed->value) {
            tally.measure(computed->value(i), number_of(stated.decimals[i], Dtype::float64));
        }
    }
    return std::move(tally).finding();
}

Finding compare(const StatedDifference& stated, const Result& result, const Tolerance& tolerance)
{
    const std::string name = "verify." + stated.array;
    const auto found = std::find_if(result.verify.begin(), result.verify.end(),
                                    [&](const Difference& difference) { return difference.array == stated.array; });
    if (found == result.verify.end()) {
        return mismatch(name, name + ": stated, but no part of this run");
    }
    Finding both{name, 0, 0, "", 0, 0};
    for (const auto& [key, decimal, value] : {std::tuple(".absolute", stated.absolute, found->absolute),
                                              std::tuple(".relative", stated.relative, found->relative)}) {
        const Tensor<double> scalar({}, {value});
        const Finding one = compare(StatedArray{name + key, {}, {decimal}}, numbers(scalar), tolerance);
        both.compared += one.compared;
        both.mismatched += one.mismatched;
        both.first = both.first.empty() ? one.first : both.first;
        both.largest_absolute = std::max(both.largest_absolute, one.largest_absolute);
        both.largest_relative = std::max(both.largest_relative, one.largest_relative);
    }
    return both;
}

/// Words as a stated array, so that one comparison serves all.
StatedArray stated_words(const char* name, const std::vector<std::string>& list)
{
    return {name, {static_cast<Index>(list.size())}, list};
}

StatedArray stated_vocabulary(const std::vector<std::pair<std::string, std::string>>& rows)
{
    StatedArray stated{"vocabulary", {static_cast<Index>(rows.size()), 2}, {}};
    for (const auto& [word, id] : rows) {
        stated.decimals.push_back(word);
        stated.decimals.push_back(id);
    }
    return stated;
}

std::vector<StatedArray> lists_of(const SavedResult& saved)
{
    std::vector<StatedArray> lists;
    if (saved.tokens) {
        lists.push_back(stated_words("tokens", *saved.tokens));
    }
    if (saved.key_tokens) {
        lists.push_back(stated_words("key_tokens", *saved.key_tokens));
    }
    if (saved.vocabulary) {
        lists.push_back(stated_vocabulary(*saved.vocabulary));
    }
    return lists;
}

} // namespace

bool CheckReport::passed() const
{
    return std::all_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.mismatched == 0; });
}

CheckReport check(const Recipe& recipe, const RunSettings& settings)
{
    if (recipe.published.empty() && recipe.precision.empty()) {
        throw Error(ErrorKind::data, "the recipe states nothing to compare with; allowed: \"published\" or \"precision\"");
    }
    std::map<Dtype, std::vector<std::string>> wanted;
    for (const Published& published : recipe.published) {
        wanted[published.dtype.value_or(recipe.dtype)].push_back(published.array);
    }
    for (const PrecisionClaim& claim : recipe.precision) {
        wanted[Dtype::float32].push_back(claim.array);
        wanted[Dtype::float64].push_back(claim.array);
    }
    std::map<Dtype, Result> results;
    for (const auto& [dtype, names] : wanted) {
        Recipe one = recipe;
        one.dtype = dtype;
        one.verify = false;
        RunSettings run_settings = settings;
        run_settings.show = shown(recipe, names);
        results.emplace(dtype, run(one, run_settings));
    }
    CheckReport report;
    for (const Published& published : recipe.published) {
        report.findings.push_back(compare(published, results.at(published.dtype.value_or(recipe.dtype))));
    }
    for (const PrecisionClaim& claim : recipe.precision) {
        report.findings.push_back(compare(claim, results.at(Dtype::float32), results.at(Dtype::float64)));
    }
    return report;
}

CheckReport check(const SavedResult& saved, const Tolerance& tolerance, const RunSettings& settings)
{
    std::vector<StatedArray> lists = lists_of(saved);
    std::vector<std::string> names;
    for (const StatedArray& list : lists) {
        names.push_back(list.name);
    }
    for (const StatedArray& array : saved.arrays) {
        names.push_back(array.name);
    }
    RunSettings run_settings = settings;
    run_settings.show = shown(saved.config, names);
    const Result result = run(saved.config, run_settings);

    CheckReport report;
    for (const StatedArray& list : lists) {
        report.findings.push_back(compare(list, find(result, list.name), tolerance));
    }
    for (const StatedArray& array : saved.arrays) {
        report.findings.push_back(compare(array, find(result, array.name), tolerance));
    }
    for (const StatedDifference& difference : saved.verify) {
        report.findings.push_back(compare(difference, result, tolerance));
    }
    if (saved.warnings) {
        report.findings.push_back(compare(stated_words("warnings", *saved.warnings), words(result.warnings), tolerance));
    }
    return report;
}

} // namespace attn::model
