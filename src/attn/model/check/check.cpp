#include "attn/model/check/check.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/check/computed.hpp"
#include "attn/model/check/summary_members.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace attn::model {
namespace {

/// Counts an element, as a number when it is one.
template <typename Number>
void count(Tally& tally, bool agrees, const Computed& computed, std::size_t place, const Number& stated)
{
    if (!computed.value) {
        return tally.count(agrees);
    }
    const double number = stated();
    tally.count(agrees, absolute_difference(computed.value(place), number), number);
}

void add(Finding& all, const Finding& one)
{
    all.compared += one.compared;
    all.mismatched += one.mismatched;
    all.first = all.first.empty() ? one.first : all.first;
    all.largest_absolute = std::max(all.largest_absolute, one.largest_absolute);
    all.largest_relative = std::max(all.largest_relative, one.largest_relative);
}

// ---- recipes ---------------------------------------------------------------------------------------------------------

/// The number that a statement holds. One that is no printed digits stands for the nearest number of the type that was
/// computed: the shortest decimal of a float32 is that float32, not the double beside it.
double stated_number(const Published& published, const Computed& computed, const std::string& text)
{
    return number_of(text, published.printed ? Dtype::float64 : computed.dtype);
}

bool agrees(const Published& published, const Computed& computed, std::size_t place, const std::string& stated)
{
    if (!computed.value) {
        return stated == computed.text(place);
    }
    const double value = computed.value(place);
    if (stated == "null") { // a masked score
        return value == -std::numeric_limits<double>::infinity();
    }
    if (published.printed) {
        const math::Printed printed =
            published.digits ? math::parse_printed(stated, *published.digits) : math::parse_printed(stated);
        const ElementType type = computed.dtype == Dtype::float32 ? ElementType::float32 : ElementType::float64;
        return published.units > 0 ? math::agrees_within(printed, value, published.units, type)
                                   : math::agrees(printed, value, type);
    }
    return within(value, stated_number(published, computed, stated), {published.rtol, published.atol});
}

/// Whether a number looks as if it had been printed: fixed, or scientific with one digit before the point.
bool looks_printed(std::string_view decimal)
{
    decimal.remove_prefix(decimal.starts_with('-') ? 1 : 0);
    const std::size_t exponent = std::min(decimal.find_first_of("eE"), decimal.size());
    const bool normal = decimal.find_first_of('.') == 1 && exponent > 2 && decimal[0] != '0';
    return decimal.size() <= 40 && (exponent == decimal.size() || (normal && decimal.size() - exponent <= 4));
}

/// Whether every number would agree if it stood between quotes, as printed digits.
bool agrees_as_printed(Published published, const Computed& computed, const std::vector<std::size_t>& places)
{
    published.printed = true;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::string& value = published.values[i];
        if ((value != "null" && !looks_printed(value)) || !agrees(published, computed, places[i], value)) {
            return false;
        }
    }
    return true;
}

/// What a matrix of all heads is made of, (H, d, D) from the left and (H, D, d) from the right, in the order of that matrix.
std::vector<std::size_t> as_one_matrix(const Shape& stack, Side side)
{
    const auto heads = static_cast<std::size_t>(stack[0]);
    const auto rows = static_cast<std::size_t>(stack[1]);
    const auto columns = static_cast<std::size_t>(stack[2]);
    std::vector<std::size_t> places;
    places.reserve(heads * rows * columns);
    for (std::size_t line = 0; line < heads * rows; ++line) { // a row of one head
        const std::size_t row = side == Side::left ? line : line % heads * rows + line / heads;
        for (std::size_t column = 0; column < columns; ++column) {
            places.push_back(row * columns + column);
        }
    }
    return places;
}

/// Where the stated elements lie in the computed array. An article may print a batch of one in front, and the matrices of heads
/// as the one that its layer holds. Nothing for any other shape.
std::optional<std::vector<std::size_t>> places_of(const Published& published, const Part& part, const Result& result)
{
    const Shape& stated = published.shape;
    const std::size_t more = stated.size() - std::min(stated.size(), part.shape.size());
    const auto rest = stated.begin() + static_cast<std::ptrdiff_t>(more);
    if (std::all_of(stated.begin(), rest, [](Index length) { return length == 1; }) &&
        std::equal(rest, stated.end(), part.shape.begin(), part.shape.end())) {
        return part.places;
    }
    const auto W = std::ranges::find(result.parameters, published.array, &Array::name);
    if (W == result.parameters.end() || !published.at.empty() || part.shape.size() != 3) {
        return std::nullopt;
    }
    const auto [heads, rows, columns] = std::tuple(part.shape[0], part.shape[1], part.shape[2]);
    const Shape one = W->side == Side::left ? Shape{heads * rows, columns} : Shape{rows, heads * columns};
    return stated == one ? std::optional(as_one_matrix(part.shape, W->side)) : std::nullopt;
}

/// The indices that a statement without the first dimension lacks.
std::string missing_index(const Published& published, const Shape& computed, bool batch)
{
    const bool fits = !computed.empty() && Shape(computed.begin() + 1, computed.end()) == published.shape;
    if (!fits || !published.at.empty()) {
        return {};
    }
    const std::optional<Item> item = item_called(published.array);
    const bool heads = item ? info_of(*item).heads != Heads::none : computed.size() == 3;
    return fmt::format(R"("at": [0] states the first {})", batch ? "entry" : heads ? "head" : "row");
}

/// Why the run has no such array, if it is for the mean of its heads.
std::string why_absent(const std::string& array, const Result& result)
{
    Recipe of_all = result.config;
    of_all.head.clear();
    const std::optional<Item> item = item_called(array);
    const bool lost = is_mean(result.config.head) && item && everything(of_all).contains(*item);
    return lost ? R"("head": "mean" leaves of the arrays by head only the mean of the weights)" : "";
}

Finding with_hint(Finding finding, std::string hint)
{
    finding.hint = std::move(hint);
    return finding;
}

Finding compare(const Published& published, const std::vector<Result>& results, const Recipe& recipe)
{
    const bool other_type = published.dtype && *published.dtype != recipe.dtype;
    const std::string what = name_of(published.array, published.at) + (!other_type                          ? ""
                                                                       : *published.dtype == Dtype::float32 ? " in float32"
                                                                                                            : " in float64");
    const std::optional<Computed> computed = is_whole_batch(recipe) ? find_computed(results, published.array, published.at)
                                                                    : find_computed(results.front(), published.array);
    if (!computed) {
        return with_hint(mismatch(what, what + ": stated, but no part of this run"),
                         why_absent(published.array, results.front()));
    }
    const std::optional<Part> part = part_of(computed->shape, published.at);
    if (!part) {
        return mismatch(what,
                        fmt::format("{}: these indices do not fit the computed shape {}", what, to_string(computed->shape)));
    }
    const std::optional<std::vector<std::size_t>> places = places_of(published, *part, results.front());
    if (!places) {
        return with_hint(mismatch(what, fmt::format("{}: stated shape {}, computed {}", what, to_string(published.shape),
                                                    to_string(part->shape))),
                         missing_index(published, part->shape, is_whole_batch(recipe)));
    }
    if (published.values.empty()) {
        Finding finding;
        finding.what = what + " shape";
        finding.compared = 1;
        return finding;
    }
    Tally tally;
    const auto place = [&](std::size_t i) { return (*places)[i]; };
    const auto stated = [&](std::size_t i) -> const std::string& { return published.values.at(i); };
    for (std::size_t i = 0; i < places->size(); ++i) {
        const bool same = agrees(published, *computed, place(i), stated(i));
        count(tally, same, *computed, place(i), [&] { return stated_number(published, *computed, stated(i)); });
    }
    Finding finding = finding_of(what, tally, published.array, *computed, place, stated);
    const bool exact_numbers = computed->value && !published.printed && published.rtol == 0 && published.atol == 0;
    if (finding.mismatched > 0 && exact_numbers && agrees_as_printed(published, *computed, *places)) {
        finding.hint = "to compare printed digits, write them as strings, or give atol";
    }
    return finding;
}

Finding compare(const PrecisionClaim& claim, const Result& single, const Result& exact)
{
    const std::optional<Computed> rough = find_computed(single, claim.array);
    const std::optional<Computed> fine = find_computed(exact, claim.array);
    const std::string what = claim.array + " in float32 against float64";
    if (!rough || !fine || !rough->value) {
        return mismatch(what, claim.array + ": no array of numbers in this run");
    }
    Tally tally;
    for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(fine->shape)); ++i) {
        const double x = rough->value(i);
        const double y = fine->value(i);
        tally.count(within(x, y, {claim.rtol, claim.atol}), absolute_difference(x, y), y);
    }
    return finding_of(what, tally, claim.array, *rough, std::identity(), fine->text);
}

Finding compare(const PrecisionClaim& claim, const std::vector<Result>& single, const std::vector<Result>& exact)
{
    Finding all = compare(claim, single.front(), exact.front());
    for (std::size_t entry = 1; entry < single.size(); ++entry) {
        add(all, compare(claim, single[entry], exact[entry]));
    }
    return all;
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
    const bool masked = stated.name == name_of(Item::masked_scores) && text == "-inf";
    if (masked || decimal == "null") {
        return masked && decimal == "null";
    }
    if (tolerance.exact()) {
        return decimal == text || math::canonical_decimal(decimal) == math::canonical_decimal(text);
    }
    return within(computed.value(place), number_of(decimal, computed.dtype), tolerance);
}

Finding compare(const StatedArray& stated, const std::optional<Computed>& computed, const Tolerance& tolerance)
{
    if (!computed) {
        return mismatch(stated.name, stated.name + ": stated, but no part of this run");
    }
    if (computed->shape != stated.shape) {
        return mismatch(stated.name, fmt::format("{}: stated shape {}, computed {}", stated.name, to_string(stated.shape),
                                                 to_string(computed->shape)));
    }
    Tally tally;
    for (std::size_t i = 0; i < stated.decimals.size(); ++i) {
        const bool same = agrees(stated, *computed, i, tolerance);
        count(tally, same, *computed, i, [&] { return number_of(stated.decimals[i], computed->dtype); });
    }
    return finding_of(stated.name, tally, stated.name, *computed, std::identity(),
                      [&](std::size_t i) { return stated.decimals[i]; });
}

Finding compare(const StatedDifference& stated, const Result& result, const Tolerance& tolerance)
{
    const std::string name = fmt::format("{}.{}", key::verify, stated.array);
    const auto found = std::ranges::find(result.verify, stated.array, &Difference::array);
    if (found == result.verify.end()) {
        return mismatch(name, name + ": stated, but no part of this run");
    }
    Finding both{name, 0, 0, "", 0, 0};
    for (const auto& [key, decimal, value] : {std::tuple(key::absolute, stated.absolute, found->absolute),
                                              std::tuple(key::relative, stated.relative, found->relative)}) {
        add(both, compare(StatedArray{fmt::format("{}.{}", name, key), {}, {decimal}}, computed_number(value), tolerance));
    }
    return both;
}

Finding compare(const StatedSummary& stated, const Result& result, const Tolerance& tolerance)
{
    const std::map<std::string, Computed> computed = computed_summary(result);
    const std::string summary(name_of(Item::summary));
    Finding all{summary, 0, 0, "", 0, 0};
    std::set<std::string_view> names;
    for (const StatedArray& value : stated.values) {
        names.insert(value.name);
        const auto found = computed.find(value.name);
        add(all, compare(value, found == computed.end() ? std::nullopt : std::optional(found->second), tolerance));
    }
    std::vector<std::string> unknown_then; // the means that a result saved before there were such has of no head
    for (const HeadMean& mean : head_mean::all) {
        const std::string end = fmt::format(".{}", mean.name);
        if (mean.is_newer && std::ranges::none_of(names, [&](std::string_view name) { return name.ends_with(end); })) {
            unknown_then.push_back(end);
        }
    }
    for (const auto& [name, value] : computed) {
        const auto ends_with = [&name = name](const std::string& end) { return name.ends_with(end); };
        if (all.mismatched == 0 && !names.contains(name) && std::ranges::none_of(unknown_then, ends_with)) {
            return mismatch(summary, fmt::format("{}: computed, but not stated", name));
        }
    }
    return all;
}

/// Words as a stated array, so that one comparison serves all.
StatedArray stated_words(std::string_view name, const std::vector<std::string>& list)
{
    return {std::string(name), {static_cast<Index>(list.size())}, list};
}

/// Warnings without the advice behind their semicolons, so that a result saved when there was other advice agrees.
std::vector<std::string> without_advice(std::vector<std::string> warnings)
{
    for (std::string& warning : warnings) {
        warning.resize(std::min(warning.find("; "), warning.size()));
    }
    return warnings;
}

StatedArray stated_vocabulary(const std::vector<std::pair<std::string, std::string>>& rows)
{
    StatedArray stated{std::string(name_of(Item::vocabulary)), {static_cast<Index>(rows.size()), 2}, {}};
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
        lists.push_back(stated_words(name_of(Item::tokens), *saved.tokens));
    }
    if (saved.key_tokens) {
        lists.push_back(stated_words(name_of(Item::key_tokens), *saved.key_tokens));
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
        throw Error(ErrorKind::data, fmt::format(R"(the recipe states nothing to compare with, no "{}" and no "{}"; )"
                                                 "run --recipe computes it",
                                                 field::published.name(), field::precision.name()));
    }
    std::map<Dtype, std::vector<std::string>> wanted;
    for (const Published& published : recipe.published) {
        wanted[published.dtype.value_or(recipe.dtype)].push_back(published.array);
    }
    for (const PrecisionClaim& claim : recipe.precision) {
        wanted[Dtype::float32].push_back(claim.array);
        wanted[Dtype::float64].push_back(claim.array);
    }
    std::map<Dtype, std::vector<Result>> results;
    for (const auto& [dtype, names] : wanted) {
        Recipe one = recipe;
        one.dtype = dtype;
        one.verify = false;
        RunSettings run_settings = settings;
        run_settings.show = items_of(recipe, names);
        results.emplace(dtype, run_entries(one, run_settings));
    }
    CheckReport report;
    if (const auto own = results.find(recipe.dtype); own != results.end()) {
        report.portable_because = own->second.front().portable_because;
    }
    for (const Published& published : recipe.published) {
        report.findings.push_back(compare(published, results.at(published.dtype.value_or(recipe.dtype)), recipe));
    }
    for (const PrecisionClaim& claim : recipe.precision) {
        report.findings.push_back(compare(claim, results.at(Dtype::float32), results.at(Dtype::float64)));
    }
    return report;
}

std::vector<std::string> names_in(const SavedResult& saved)
{
    std::vector<std::string> names;
    for (const StatedArray& list : lists_of(saved)) {
        names.push_back(list.name);
    }
    for (const StatedArray& array : saved.arrays) {
        names.push_back(array.name);
    }
    for (const StatedDifference& difference : saved.verify) {
        names.push_back(difference.array);
    }
    return names;
}

std::vector<Finding> findings_of(const SavedResult& saved, const Result& result, const Tolerance& tolerance)
{
    std::vector<Finding> findings;
    for (const StatedArray& list : lists_of(saved)) {
        findings.push_back(compare(list, find_computed(result, list.name), tolerance));
    }
    for (const StatedArray& array : saved.arrays) {
        findings.push_back(compare(array, find_computed(result, array.name), tolerance));
    }
    if (saved.summary) {
        findings.push_back(compare(*saved.summary, result, tolerance));
    }
    for (const StatedDifference& difference : saved.verify) {
        findings.push_back(compare(difference, result, tolerance));
    }
    if (saved.warnings) {
        findings.push_back(compare(stated_words(key::warnings, without_advice(*saved.warnings)),
                                   computed_words(without_advice(result.warnings)), tolerance));
    }
    return findings;
}

CheckReport check(const SavedResult& saved, const Tolerance& tolerance, const RunSettings& settings)
{
    const std::vector<std::string> names = names_in(saved);
    if (names.empty() && !saved.summary) {
        throw Error(ErrorKind::data, "the result states nothing to compare with but its config; run it with --show");
    }
    RunSettings run_settings = settings;
    run_settings.show = items_of(saved.config, names);
    if (saved.summary) {
        run_settings.top = saved.summary->top;
    }
    const Result result = run(saved.config, run_settings);
    return {.findings = findings_of(saved, result, tolerance), .portable_because = result.portable_because};
}

} // namespace attn::model
