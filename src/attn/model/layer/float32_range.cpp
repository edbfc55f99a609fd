#include "attn/model/layer/float32_range.hpp"

#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>

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

void require_float32_range(const TensorView& view, const std::string& what, std::string_view wider, const Arriving* arriving)
{
    if (view.type != ElementType::float64) {
        return;
    }
    if (const std::optional<Breach> breach = first_breach(view, NumberRule::within_float32, arriving)) {
        throw Error(ErrorKind::data, fmt::format("{} at {}", what, to_string(breach->index)),
                    math::shortest(breach->value) + ", which is beyond float32", fmt::format("up to 3.4e38, or {}", wider));
    }
}

void require_exact_integers(const TensorView& view, Dtype dtype, const std::string& what, std::string_view wider,
                            const Arriving* arriving)
{
    if (!is_integer(view.type)) {
        return;
    }
    const NumberRule rule = dtype == Dtype::float32 ? NumberRule::exact_in_float32 : NumberRule::exact_in_float64;
    if (const std::optional<Breach> breach = first_breach(view, rule, arriving)) {
        refuse_integer(std::to_string(breach->integer), in_type(breach->value, dtype), dtype,
                       fmt::format("{} at {}", what, to_string(breach->index)), wider);
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
