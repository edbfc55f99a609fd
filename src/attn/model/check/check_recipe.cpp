#include "attn/model/check/check.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/layer/batch.hpp"
#include "attn/model/run/heads.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace attn::model {
namespace {

// ---- parts of arrays -------------------------------------------------------------------------------------------------

/// The elements that leading indices leave of an array; an absent index stands for all.
struct Slice {
    Shape shape;
    std::vector<std::size_t> places; ///< of its elements, counted in the whole array
};
/// Nothing when the indices do not fit.
std::optional<Slice> part_of(const Shape& whole, const At& at)
{
    if (at.size() > whole.size()) {
        return std::nullopt;
    }
    Slice part;
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

// ---- statements ------------------------------------------------------------------------------------------------------

/// The number that a statement holds. One that is no printed digits stands for the nearest number of the type that was
/// computed: the shortest decimal of a float32 is that float32, not the double beside it.
double stated_number(const Published& published, const Leaf& computed, std::string_view text)
{
    return number_of(text, published.printed ? ElementType::float64 : *computed.type);
}

bool agrees(const Published& published, const Leaf& computed, std::size_t place, std::string_view stated)
{
    if (!is_measured(computed)) {
        return stated == computed.texts[place];
    }
    const double value = number_of(computed.texts[place], *computed.type);
    if (stated == "null") { // a masked score
        return value == -std::numeric_limits<double>::infinity();
    }
    if (published.printed) {
        const math::Printed printed =
            published.digits ? math::parse_printed(stated, *published.digits) : math::parse_printed(stated);
        return published.units > 0 ? math::agrees_within(printed, value, published.units, *computed.type)
                                   : math::agrees(printed, value, *computed.type);
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
bool agrees_as_printed(Published published, const Leaf& computed, const std::vector<std::size_t>& places)
{
    published.printed = true;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::string_view value = published.values[i];
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
std::optional<std::vector<std::size_t>> places_of(const Published& published, const Slice& part, const Result& result)
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

/// What is stated of an array, in a shape that it may be written in.
struct Stated {
    Slice part;                                     ///< what the indices leave
    std::optional<std::vector<std::size_t>> places; ///< where its elements lie; none: the stated shape is another
    std::optional<Shape> without_head = {};         ///< the shape that would do as well
};

/// Nothing when the indices do not fit. One head alone may be written without its dimension, and then the indices are without
/// it, too.
std::optional<Stated> stated_of(const Published& published, const Shape& computed, bool is_batch, const Result& result)
{
    const auto in = [&](const Shape& shape) -> std::optional<Stated> {
        std::optional<Slice> part = part_of(shape, published.at);
        if (!part) {
            return std::nullopt;
        }
        std::optional<std::vector<std::size_t>> places = places_of(published, *part, result);
        return Stated{std::move(*part), std::move(places)};
    };
    std::optional<Stated> whole = in(computed);
    if (whole && whole->places) {
        return whole;
    }
    const std::optional<Item> item = item_called(published.array);
    const std::ptrdiff_t heads = is_batch ? 1 : 0; // their dimension
    if (!item || info_of(*item).heads == Heads::none || computed[static_cast<std::size_t>(heads)] != 1) {
        return whole;
    }
    Shape of_one = computed;
    of_one.erase(of_one.begin() + heads);
    std::optional<Stated> alone = in(of_one);
    if (alone && (alone->places || !whole)) {
        return alone;
    }
    if (alone) {
        whole->without_head = alone->part.shape;
    }
    return whole;
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

/// Of a matrix or more where as many dimensions are stated: an input or sizes may have changed.
std::string other_lengths(const Published& published, const Stated& found)
{
    const std::size_t rank = published.shape.size();
    const bool as_many = rank == found.part.shape.size() || (found.without_head && rank == found.without_head->size());
    return rank < 2 || !as_many
               ? ""
               : R"(if the recipe has changed since, leave this statement out of "published"; run --recipe FILE -o )"
                 "NEW.recipe.json writes a recipe with the numbers of now";
}

/// Why the run has no such array, if it is for the mean of its heads.
std::string why_absent(const std::string& array, const Result& result)
{
    Recipe of_all = result.config();
    of_all.head.clear();
    const std::optional<Item> item = item_called(array);
    const bool lost = is_mean(result.config().head) && item && everything(of_all).contains(*item);
    return lost ? R"("head": "mean" leaves of the arrays by head only the mean of the weights)" : "";
}

Finding with_hint(Finding finding, std::string hint)
{
    finding.hint = std::move(hint);
    return finding;
}

/// An entry of the batch, or the run.
struct Entry {
    Result result;
    SavedResult written;
};

/// Nothing when the run has no such array. Of the entries of a batch together, (B, …); but a parameter or the vocabulary, which
/// they share, as each of them has it. Where `at` begins with an entry, the others may have other shapes, and their elements
/// are left out; otherwise throws Error(data) where they do.
std::optional<Leaf> leaf_of(const std::vector<Entry>& entries, const std::string& name, const At& at, bool is_batch)
{
    const Leaf* one = entries.front().written.find(name);
    if (one == nullptr) {
        return std::nullopt;
    }
    const std::optional<Item> item = item_called(name);
    if (!is_batch || !item || item == Item::vocabulary) {
        return *one;
    }
    const bool chosen = !at.empty() && at.front() && *at.front() < std::ssize(entries);
    Leaf batch = *entries[chosen ? static_cast<std::size_t>(*at.front()) : 0].written.find(name);
    const std::size_t size = batch.texts.size();
    const Shape shape = batch.shape;
    batch.texts = {};
    batch.shape.insert(batch.shape.begin(), std::ssize(entries));
    for (std::size_t e = 0; e < entries.size(); ++e) {
        const Leaf& own = *entries[e].written.find(name);
        if (!chosen && own.shape != shape) {
            throw Error(ErrorKind::data, "published: " + name, "all entries of a batch, whose shapes differ",
                        "a statement for each entry, \"at\": [0] and so on");
        }
        const bool needed = !chosen || static_cast<Index>(e) == *at.front();
        for (std::size_t i = 0; i < size; ++i) {
            batch.texts.push_back(needed ? own.texts[i] : "");
        }
    }
    return batch;
}

Finding compare(const Published& published, const std::vector<Entry>& entries, const Recipe& recipe)
{
    const bool other_type = published.dtype && *published.dtype != recipe.dtype;
    const std::string what =
        model::name_of(published.array, published.at) + (!other_type                          ? ""
                                                         : *published.dtype == Dtype::float32 ? " in float32"
                                                                                              : " in float64");
    const Result& result = entries.front().result;
    const bool is_batch = is_whole_batch(recipe);
    const std::optional<Leaf> computed = leaf_of(entries, published.array, published.at, is_batch);
    if (!computed) {
        return with_hint(mismatch(what, what + ": this run has none"), why_absent(published.array, result));
    }
    const std::optional<Stated> found = stated_of(published, computed->shape, is_batch, result);
    if (!found) {
        return mismatch(what,
                        fmt::format("{}: these indices do not fit the computed shape {}", what, to_string(computed->shape)));
    }
    const auto& places = found->places;
    if (!places) {
        const std::string whole = to_string(found->part.shape);
        const std::string shape =
            found->without_head ? fmt::format("{}, or {} with the head", to_string(*found->without_head), whole) : whole;
        const std::string index = missing_index(published, found->part.shape, is_batch);
        return with_hint(
            mismatch(what, fmt::format("{}: stated shape {}, computed {}", what, to_string(published.shape), shape)),
            index.empty() ? other_lengths(published, *found) : index);
    }
    if (published.values.empty()) {
        Finding finding;
        finding.what = what + " shape";
        finding.compared = 1;
        return finding;
    }
    Tally tally;
    const auto place = [&](std::size_t i) { return (*places)[i]; };
    const auto stated = [&](std::size_t i) { return published.values[i]; };
    for (std::size_t i = 0; i < places->size(); ++i) {
        const bool same = agrees(published, *computed, place(i), stated(i));
        count(tally, same, *computed, place(i), [&] { return stated_number(published, *computed, stated(i)); });
    }
    Finding finding = finding_of(what, tally, *computed, place, stated);
    const bool exact_numbers = is_measured(*computed) && !published.printed && published.rtol == 0 && published.atol == 0;
    if (finding.mismatched > 0 && exact_numbers && agrees_as_printed(published, *computed, *places)) {
        finding.hint = "to compare printed digits, write them as strings, or give atol";
    }
    return finding;
}

Finding compare(const PrecisionClaim& claim, const SavedResult& single, const SavedResult& exact)
{
    const Leaf* rough = single.find(claim.array);
    const Leaf* fine = exact.find(claim.array);
    const std::string what = claim.array + " in float32 against float64";
    if (rough == nullptr || fine == nullptr || !is_measured(*rough)) {
        return mismatch(what, claim.array + ": no array of numbers in this run");
    }
    Tally tally;
    for (std::size_t i = 0; i < fine->texts.size(); ++i) {
        const double x = number_of(rough->texts[i], ElementType::float32);
        const double y = number_of(fine->texts[i], ElementType::float64);
        tally.count(within(x, y, {claim.rtol, claim.atol}), absolute_difference(x, y), y);
    }
    return finding_of(what, tally, *rough, std::identity(), [&](std::size_t i) { return fine->texts[i]; },
                      {name_of(Dtype::float64), name_of(Dtype::float32)});
}

Finding compare(const PrecisionClaim& claim, const std::vector<Entry>& single, const std::vector<Entry>& exact)
{
    Finding all = compare(claim, single.front().written, exact.front().written);
    for (std::size_t entry = 1; entry < single.size(); ++entry) {
        add(all, compare(claim, single[entry].written, exact[entry].written));
    }
    return all;
}

} // namespace

CheckReport check(const Recipe& recipe, const RunSettings& settings, const Written& written)
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
    std::map<Dtype, std::vector<Entry>> entries;
    for (const auto& [dtype, names] : wanted) {
        Recipe one = recipe;
        one.dtype = dtype;
        one.verify = false;
        RunSettings run_settings = settings;
        run_settings.show = items_of(recipe, names);
        for (Result& result : run_entries(one, run_settings)) {
            SavedResult document = written(result);
            entries[dtype].push_back({std::move(result), std::move(document)});
        }
    }
    CheckReport report;
    if (const auto own = entries.find(recipe.dtype); own != entries.end()) {
        report.portable_because = own->second.front().result.portable_because;
    }
    for (const Published& published : recipe.published) {
        report.findings.push_back(compare(published, entries.at(published.dtype.value_or(recipe.dtype)), recipe));
    }
    for (const PrecisionClaim& claim : recipe.precision) {
        report.findings.push_back(compare(claim, entries.at(Dtype::float32), entries.at(Dtype::float64)));
    }
    return report;
}

Show items_of(const Recipe& recipe, const std::vector<std::string>& arrays)
{
    const Show existing = everything(recipe);
    Show show;
    for (const std::string& name : arrays) {
        const Item item = item_called(name).value_or(Item::parameters); // which go together
        if (existing.contains(item)) {
            show.insert(item);
        }
    }
    return show.empty() ? Show{Item::tokens} : show; // an empty one would mean the default
}

} // namespace attn::model
