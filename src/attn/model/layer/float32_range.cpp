#include "attn/model/layer/float32_range.hpp"

#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::model {

void require_float32_range(const TensorView& view, const std::string& what)
{
    constexpr double most = std::numeric_limits<float>::max();
    if (view.type != ElementType::float64 || largest_magnitude(view) <= most) {
        return;
    }
    const std::vector<double> values = load<double>(view).values;
    const auto beyond = [](double value) { return std::isfinite(value) && std::abs(value) > most; };
    const auto first = std::ranges::find_if(values, beyond);
    if (first != values.end()) { // infinities and NaN are no matter of range
        throw Error(ErrorKind::data, what + " at " + to_string(index_of(view.shape, first - values.begin())),
                    math::shortest(*first) + ", which is beyond float32", "up to 3.4e38, or --dtype float64");
    }
}

} // namespace attn::model
