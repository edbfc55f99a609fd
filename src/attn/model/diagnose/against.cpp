#include "attn/model/diagnose/against.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/diagnose/rounding.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

Yardstick yardstick(std::vector<double> numbers, const NamedTensor& file, const TensorComparison& comparison)
{
    Tolerance tolerance = comparison.tolerance;
    const bool whole =
        std::ranges::all_of(numbers, [](double number) { return !std::isfinite(number) || number == std::trunc(number); });
    if (file.printed_unit > 0 && whole) {
        tolerance.atol = std::max(tolerance.atol, 0.5);
    }
    return {std::move(numbers), tolerance, largest_finite(file.view.type)};
}

void require_explained(const std::optional<Diagnosis>& diagnosis, const NamedTensor& file, const std::vector<double>& right,
                       const std::string& what)
{
    if (diagnosis && diagnosis->verdict != Verdict::unknown) {
        return;
    }
    const std::vector<double> numbers = load<double>(file.view).values;
    constexpr double masked = -std::numeric_limits<double>::infinity();
    const bool may_be_masked = std::ranges::find(right, masked) != right.end();
    for (std::size_t at = 0; at < numbers.size(); ++at) {
        if (!std::isfinite(numbers[at]) && std::isfinite(right[at]) && !(may_be_masked && numbers[at] == masked)) {
            std::string place = what;
            for (const Index i : index_of(file.view.shape, static_cast<Index>(at))) {
                place += fmt::format("[{}]", i);
            }
            throw Error(ErrorKind::data, place, math::shortest(numbers[at]), "finite numbers; no mistake of the list gives it");
        }
    }
}

Against against(const Call& call, const StoredTensor& right, const NamedTensor& file, const std::string& what,
                const core::Work& work)
{
    if (file.view.shape != right.shape) {
        throw Error(ErrorKind::data, what, "the shape " + to_string(file.view.shape),
                    fmt::format("{}, that of the {}", to_string(right.shape), right.name));
    }
    const NamedTensor expected{right.name, right.view()};
    Against result;
    result.comparison = compare({{file}, {}}, {{expected}, {}}, {}).tensors.front();
    result.of_weights = right.name == name_of(Item::weights);
    if (result.of_weights || right.name == name_of(Item::context)) {
        const Compared compared = result.of_weights ? Compared::weights : Compared::context;
        const Yardstick numbers = yardstick(by_heads(call, compared, load<double>(file.view).values), file, result.comparison);
        const std::vector<double> expected_numbers = by_heads(call, compared, load<double>(expected.view).values);
        const ComparedDims dims = dims_of(call, compared);
        const Tolerance& tolerance = result.comparison.tolerance;
        result.where = where(dims, result.of_weights, numbers.numbers(), expected_numbers, tolerance);
        if (!result.comparison.agrees() && call.is_plain()) {
            result.beyond_lengths = only_beyond_lengths(call, dims, numbers.numbers(), expected_numbers, tolerance);
            result.diagnosis = diagnose({call, compared, numbers, expected_numbers}, work);
        }
    }
    if (result.comparison.agrees() || result.beyond_lengths) {
        return result;
    }
    require_explained(result.diagnosis, file, load<double>(right.view()).values, what);
    return result;
}

} // namespace attn::model::diagnose
