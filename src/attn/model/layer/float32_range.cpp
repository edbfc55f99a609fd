#include "attn/model/layer/float32_range.hpp"

#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attn::model {
namespace {

/// What the type makes of a number.
double in_type(double value, Dtype dtype)
{
    return dtype == Dtype::float32 ? static_cast<double>(static_cast<float>(value)) : value;
}

[[noreturn]] void refuse_integer(const std::string& integer, double nearest, Dtype dtype, const std::string& what,
                                 std::string_view wider)
{
    throw Error(ErrorKind::data, what, fmt::format("{}, an integer that {} does not hold", integer, name_of(dtype)),
                fmt::format("one that it holds, such as {}{}", math::fixed(nearest, 0),
                            dtype == Dtype::float32 ? fmt::format(", or {}", wider) : ""));
}

} // namespace

void require_numbers(const TensorView& view, const std::string& what)
{
    if (view.type == ElementType::boolean) {
        throw Error(ErrorKind::data, what, name_of(view.type), "float16, bfloat16, float32, float64, uint8, int32, int64");
    }
}

void require_float32_range(const TensorView& view, const std::string& what, std::string_view wider)
{
    constexpr double least_beyond = 0x1.ffffffp127; // what is smaller rounds to a number of float32
    if (view.type != ElementType::float64 || largest_magnitude(view) < least_beyond) {
        return;
    }
    const std::vector<double> values = load<double>(view).values;
    const auto beyond = [](double value) { return std::isfinite(value) && std::abs(value) >= least_beyond; };
    const auto first = std::ranges::find_if(values, beyond);
    if (first != values.end()) { // infinities and NaN are no matter of range
        throw Error(ErrorKind::data, fmt::format("{} at {}", what, to_string(index_of(view.shape, first - values.begin()))),
                    math::shortest(*first) + ", which is beyond float32", fmt::format("up to 3.4e38, or {}", wider));
    }
}

void require_exact_integers(const TensorView& view, Dtype dtype, const std::string& what, std::string_view wider)
{
    if (!is_integer(view.type)) {
        return;
    }
    constexpr double beyond = 9223372036854775808.0; // 2^63
    const std::vector<std::int64_t> values = load<std::int64_t>(view).values;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double held = in_type(static_cast<double>(values[i]), dtype);
        if (held >= beyond || static_cast<std::int64_t>(held) != values[i]) {
            refuse_integer(std::to_string(values[i]), held, dtype,
                           fmt::format("{} at {}", what, to_string(index_of(view.shape, static_cast<Index>(i)))), wider);
        }
    }
}

void require_exact_integers(const TensorView& view, std::span<const Index> places, Dtype dtype, const std::string& what)
{
    for (const Index place : places) {
        const Shape at = index_of(view.shape, place);
        const double value = view.at(at);
        if (const double held = in_type(value, dtype); held != value) {
            refuse_integer(math::fixed(value, 0), held, dtype, fmt::format("{} at {}", what, to_string(at)), wider_run);
        }
    }
}

} // namespace attn::model
