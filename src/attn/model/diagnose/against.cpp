#include "attn/model/diagnose/against.hpp"

#include "attn/model/diagnose/rounding.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace attn::model::diagnose {
namespace {

/// As (B, H, T, width), row-major.
std::vector<double> by_heads(const Call& call, Compared compared, const std::vector<double>& values)
{
    const bool joined = compared == Compared::context && call.views.side_by_side;
    return joined ? split_into_heads(values, dims_of(call, compared)) : values;
}

/// Whether the rows of all queries before the lengths agree.
bool only_beyond_lengths(const Call& call, const ComparedDims& dims, const std::vector<double>& numbers,
                         const std::vector<double>& right, const Tolerance& tolerance)
{
    if (call.views.lengths.empty() || !call.is_square()) {
        return false;
    }
    for (std::size_t at = 0; at < numbers.size(); ++at) {
        const Index row = static_cast<Index>(at) / dims.width;
        const Index length = call.views.lengths[static_cast<std::size_t>(row / dims.T / dims.H)];
        if (row % dims.T < length && !within(numbers[at], right[at], tolerance)) {
            return false;
        }
    }
    return true;
}

} // namespace

std::vector<double> split_into_heads(const std::vector<double>& values, const ComparedDims& dims)
{
    std::vector<double> ordered;
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

bool is_whole(const NamedTensor& file)
{
    const auto has_no_decimals = [](double number) { return !std::isfinite(number) || number == std::trunc(number); };
    return !file.printed.empty() && std::ranges::all_of(load<double>(file.view).values, has_no_decimals);
}

std::vector<double> reach_of(const NamedTensor& file)
{
    std::vector<double> reach(static_cast<std::size_t>(file.view.count()));
    std::ranges::transform(file.printed, reach.begin(), [](const math::Printed& printed) { return printed.unit / 2; });
    return reach;
}

Yardstick yardstick(std::vector<double> numbers, std::vector<double> reach, const NamedTensor& file, ElementType right)
{
    Tolerance tolerance = usual_tolerance(file.view.type, right);
    if (is_whole(file)) {
        tolerance.atol = std::max(tolerance.atol, 0.5);
    }
    return {std::move(numbers), tolerance, largest_finite(file.view.type), std::move(reach)};
}

Told Against::told() const
{
    if (!diagnosis || diagnosis->named == 0) {
        return Told::nothing;
    }
    if (!agrees()) {
        return Told::mistake;
    }
    const Precision type = precision_of(half->type);
    const auto named = std::span(diagnosis->candidates).first(diagnosis->named);
    return std::ranges::any_of(named, [&](const Candidate& each) { return rounds_as(each.variant, type); }) ? Told::note
           : diagnosis->verdict == Verdict::likely                                                          ? Told::nothing
                                                                                                            : Told::mistake;
}

Against against(const Call& call, const StoredTensor& right, const NamedTensor& file, const std::string& what,
                const Criterion& criterion, HalfReference& half, const core::Work& work)
{
    if (file.view.shape != right.shape) {
        throw Error(ErrorKind::data, what, "the shape " + to_string(file.view.shape),
                    fmt::format("{}, that of the {}", to_string(right.shape), right.name));
    }
    const NamedTensor expected{right.name, right.view()};
    Against result;
    result.comparison = compare({{file}, {}}, {{expected}, {}}, {.tolerance = criterion.tolerance}).tensors.front();
    result.whole = is_whole(file);
    result.half = half.accuracy(file, right, result.comparison.tolerance.atol);
    result.agreement = result.comparison.agrees()                                    ? Agreement::within_tolerance
                       : result.half && result.half->suffices() && !criterion.strict ? Agreement::as_type_allows
                                                                                     : Agreement::differs;
    result.of_weights = right.name == name_of(Item::weights);
    if (result.of_weights || right.name == name_of(Item::context)) {
        const Compared compared = result.of_weights ? Compared::weights : Compared::context;
        const auto ordered = [&](const std::vector<double>& values) { return by_heads(call, compared, values); };
        const Yardstick numbers = yardstick(ordered(load<double>(file.view).values), ordered(reach_of(file)), file, right.type);
        const std::vector<double> expected_numbers = ordered(load<double>(expected.view).values);
        const ComparedDims dims = dims_of(call, compared);
        const Tolerance& tolerance = result.comparison.tolerance;
        const std::vector<double> found = ordered(numbers_beside(file, expected, tolerance));
        result.where = where(dims, result.of_weights, found, expected_numbers, tolerance);
        if (!result.comparison.agrees() && call.is_plain()) {
            result.beyond_lengths = only_beyond_lengths(call, dims, found, expected_numbers, tolerance);
            result.diagnosis = diagnose({call, compared, numbers, expected_numbers, !result.agrees()}, work);
        }
    }
    return result;
}

} // namespace attn::model::diagnose
