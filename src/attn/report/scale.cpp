#include "attn/report/scale.hpp"

#include <cmath>

namespace attn::report {

Shade shade_of(const ShadeOptions& options, Index columns)
{
    constexpr Index many = 24;
    const bool fixed = options.most.has_value() || columns <= many;
    return options.shade.value_or(fixed ? Shade::absolute : Shade::row);
}

double Scale::share(double value) const
{
    if (shade == Shade::log) {
        return value > 0 ? 1 + std::log10(value / high) / decades : 0;
    }
    return (value / 2 - low / 2) / (high / 2 - low / 2);
}

} // namespace attn::report
