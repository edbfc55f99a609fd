#include "attn/model/diagnose/against.hpp"

#include "attn/model/diagnose/rounding.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace attn::model::diagnose {

// ---- where they differ -----------------------------------------------------------------------------------------------------

namespace {

/// The largest of each `size` neighbours.
std::vector<double> tiled(const std::vector<double>& differences, Index size)
{
    std::vector<double> tiles;
    for (std::size_t at = 0; at < differences.size(); ++at) {
        if (at % static_cast<std::size_t>(size) == 0) {
            tiles.push_back(0);
        }
        tiles.back() = std::max(tiles.back(), differences[at]);
    }
    return tiles;
}

ErrorMap empty_map(const ComparedDims& dims)
{
    constexpr Index most_cells = 64;
    const auto parts = [](Index count, Index size) { return (count + size - 1) / size; };
    ErrorMap map;
    map.B = dims.B;
    map.H = dims.H;
    map.tall = std::max<Index>(parts(dims.T, most_cells), 1);
    map.wide = std::max<Index>(parts(dims.width, most_cells), 1);
    map.rows = parts(dims.T, map.tall);
    map.columns = parts(dims.width, map.wide);
    map.largest.resize(static_cast<std::size_t>(map.B * map.H * map.rows * map.columns));
    return map;
}

double difference(double number, double right)
{
    const double found = absolute_difference(number, right);
    const bool both_nan = std::isnan(number) && std::isnan(right);
    return both_nan ? 0 : std::isnan(found) ? std::numeric_limits<double>::infinity() : found;
}

} // namespace

Where where(const ComparedDims& dims, bool of_weights, const std::vector<double>& numbers, const std::vector<double>& right,
            const Tolerance& tolerance)
{
    const auto zeros = [](Index count) { return std::vector<double>(static_cast<std::size_t>(count)); };
    Where found{zeros(dims.B), zeros(dims.H), zeros(dims.T), zeros(dims.width), {}, {}, 16, {}};
    ErrorMap& map = found.map;
    map = empty_map(dims);
    std::size_t at = 0;
    const auto keep = [](std::vector<double>& largest, Index place, double value) {
        double& kept = largest[static_cast<std::size_t>(place)];
        kept = std::max(kept, value);
    };
    for (Index b = 0; b < dims.B; ++b) {
        for (Index h = 0; h < dims.H; ++h) {
            for (Index i = 0; i < dims.T; ++i) {
                for (Index x = 0; x < dims.width; ++x, ++at) {
                    const double value = difference(numbers[at], right[at]);
                    keep(map.largest, ((b * dims.H + h) * map.rows + i / map.tall) * map.columns + x / map.wide, value);
                    if (!within(numbers[at], right[at], tolerance)) {
                        keep(found.batches, b, value);
                        keep(found.heads, h, value);
                        keep(found.rows, i, value);
                        keep(found.columns, x, value);
                    }
                }
            }
        }
    }
    found.tiles = tiled(found.rows, found.tile);
    if (of_weights) {
        found.key_tiles = tiled(found.columns, found.tile);
    }
    return found;
}

// ---- what explains it ------------------------------------------------------------------------------------------------------

namespace {

/// Whether a number of the file, at a flat place, belongs to a query before the lengths.
bool is_before_lengths(const Call& call, const ComparedDims& dims, Compared compared, Index at)
{
    const bool joined = compared == Compared::context && call.views.side_by_side;
    const Index row = at / dims.width;
    const Index i = joined ? row / dims.H % dims.T : row % dims.T;
    return i < call.views.lengths[static_cast<std::size_t>(row / dims.T / dims.H)];
}

/// Whether NaN or infinities among the inputs make other numbers NaN for variants than for attend(), `right`.
bool is_beyond_variants(const Call& call, Compared compared, const std::vector<double>& right, const core::Work& work)
{
    if (!call.options.allow_nonfinite) {
        return false;
    }
    const std::vector<double> known = evaluate(call, {}, compared, work);
    return !std::ranges::equal(
        known, right, {}, [](double x) { return std::isfinite(x); }, [](double x) { return std::isfinite(x); });
}

/// Whether what differs belongs to queries at or beyond the lengths.
bool only_beyond_lengths(const Call& call, Compared compared, const ComparedTensor& file, const StoredTensor& right,
                         const Tolerance& tolerance, HalfReference& half, bool strict)
{
    if (call.views.lengths.empty() || !call.is_square()) {
        return false;
    }
    const ComparedDims dims = dims_of(call, compared);
    const auto counts = [&](Index at) { return is_before_lengths(call, dims, compared, at); };
    const std::vector<double> numbers = numbers_beside(file, {{right.name, right.view()}}, tolerance);
    const std::vector<double> expected = load<double>(right.view()).values;
    bool agree = true;
    for (std::size_t at = 0; at < numbers.size() && agree; ++at) {
        agree = !counts(static_cast<Index>(at)) || within(numbers[at], expected[at], tolerance);
    }
    if (agree || strict) {
        return agree;
    }
    const std::optional<HalfAccuracy> accuracy = half.accuracy(file, right, tolerance.atol, counts);
    return accuracy && accuracy->suffices();
}

bool has_finite(const std::vector<double>& numbers)
{
    return std::ranges::any_of(numbers, [](double number) { return std::isfinite(number); });
}

} // namespace

std::vector<double> split_into_heads(const std::vector<double>& values, const ComparedDims& dims)
{
    std::vector<double> ordered;
    if (values.empty()) {
        return ordered;
    }
    ordered.reserve(values.size());
    for (Index b = 0; b < dims.B; ++b) {
        for (Index h = 0; h < dims.H; ++h) {
            for (Index i = 0; i < dims.T; ++i) {
                const auto row = values.begin() + ((b * dims.T + i) * dims.H + h) * dims.width;
                ordered.insert(ordered.end(), row, row + dims.width);
            }
        }
    }
    return ordered;
}

std::vector<double> by_heads(const Call& call, Compared compared, std::vector<double> values)
{
    const bool joined = compared == Compared::context && call.views.side_by_side;
    return joined ? split_into_heads(values, dims_of(call, compared)) : std::move(values);
}

bool is_whole(const ComparedTensor& file)
{
    const auto has_no_decimals = [](double number) { return !std::isfinite(number) || number == std::trunc(number); };
    return !file.printed.empty() && std::ranges::all_of(load<double>(file.view).values, has_no_decimals);
}

std::vector<double> reach_of(const ComparedTensor& file)
{
    std::vector<double> reach(file.printed.size());
    for (std::size_t at = 0; at < reach.size(); ++at) {
        reach[at] = file.printed[at].unit / 2;
    }
    return reach;
}

Yardstick yardstick(std::vector<double> numbers, std::vector<double> reach, const ComparedTensor& file, ElementType right,
                    double allowed)
{
    Tolerance tolerance = usual_tolerance(file.view.type, right);
    tolerance.atol = std::max({tolerance.atol, allowed, is_whole(file) ? 0.5 : 0});
    return {std::move(numbers), tolerance, largest_finite(file.view.type), std::move(reach)};
}

Yardstick yardstick(const Call& call, Compared compared, const ComparedTensor& file, const StoredTensor& right, double allowed)
{
    return yardstick(by_heads(call, compared, load<double>(file.view).values), by_heads(call, compared, reach_of(file)), file,
                     right.type, allowed);
}

Told Against::told() const
{
    if (!diagnosis || diagnosis->named == 0) {
        return Told::nothing;
    }
    if (!agrees()) {
        return Told::mistake;
    }
    return !roundings().empty() ? Told::note : diagnosis->verdict == Verdict::likely ? Told::nothing : Told::mistake;
}

std::vector<Candidate> Against::roundings() const
{
    std::vector<Candidate> found;
    if (half && diagnosis) {
        const auto rounds = [&](const Candidate& each) { return rounds_as(each.variant, precision_of(half->type)); };
        std::ranges::copy_if(std::span(diagnosis->candidates).first(diagnosis->named), std::back_inserter(found), rounds);
    }
    return found;
}

void require_shape(const ComparedTensor& file, const Shape& shape, std::string_view name, const std::string& what)
{
    if (file.view.shape != shape) {
        const std::optional<Item> item = item_called(name);
        const bool is_unsummed =
            item && is_gradient(*item) && info_of(*item).heads == Heads::keys && file.view.count() > element_count(shape);
        throw Error(ErrorKind::data, what, "the shape " + to_string(file.view.shape),
                    fmt::format("{}, that of the {}{}", to_string(shape), name,
                                is_unsummed ? ", summed over the query heads of each key/value head" : ""));
    }
}

Against against(const Call& call, const StoredTensor& right, const ComparedTensor& file, const std::string& what,
                const Criterion& criterion, HalfReference& half, const core::Work& work)
{
    require_shape(file, right.shape, right.name, what);
    const ComparedTensor expected{{right.name, right.view()}};
    Against result;
    result.comparison = compare({{file}, {}}, {{expected}, {}}, {.tolerance = criterion.tolerance}).tensors.front();
    result.whole = is_whole(file);
    const double atol = result.comparison.tolerance.atol;
    const bool is_half = half.type_of(file.view.type, right.type) != ElementType::float32;
    if (!result.comparison.agrees() || (is_half && half.is_cheap())) {
        result.half = half.accuracy(file, right, atol);
    }
    result.agreement = result.comparison.agrees()                                    ? Agreement::within_tolerance
                       : result.half && result.half->suffices() && !criterion.strict ? Agreement::as_type_allows
                                                                                     : Agreement::differs;
    result.of_weights = right.name == name_of(Item::weights);
    if (const std::optional<Compared> stage = compared_stage(right.name)) {
        const Compared compared = *stage;
        const auto measure = [&](double allowed) { return yardstick(call, compared, file, right, allowed); };
        const std::vector<double> expected_numbers = by_heads(call, compared, load<double>(expected.view).values);
        const ComparedDims dims = dims_of(call, compared);
        const Tolerance& tolerance = result.comparison.tolerance;
        result.where = where(dims, result.of_weights, by_heads(call, compared, numbers_beside(file, expected, tolerance)),
                             expected_numbers, tolerance);
        if (!result.comparison.agrees() && call.is_plain() && !is_beyond_variants(call, compared, expected_numbers, work)) {
            result.beyond_lengths = only_beyond_lengths(call, compared, file, right, tolerance, half, criterion.strict);
            const Yardstick usual = measure(0);
            const bool pairs = !result.agrees() && has_finite(usual.numbers());
            result.diagnosis = diagnose({call, compared, usual, expected_numbers, pairs}, work);
            if (result.half && result.diagnosis->verdict == Verdict::unknown) { // a kernel with a mistake rounds, too
                const Yardstick wide = measure(result.half->rounding());
                Diagnosis other = diagnose({call, compared, wide, expected_numbers, false}, work);
                if (other.verdict != Verdict::unknown) {
                    result.diagnosis = std::move(other);
                }
            }
        }
    }
    return result;
}

} // namespace attn::model::diagnose
