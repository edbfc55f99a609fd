#include "attn/report/head_means.hpp"

#include "attn/math/decimal.hpp"

#include <fmt/format.h>

namespace attn::report {

const ShownMean* role_of(const model::HeadSummary& head, const model::HeadSummary& equal)
{
    const ShownMean* role = nullptr;
    double largest = 0;
    for (const ShownMean& mean : head_means) {
        const double value = mean.is_share ? mean.value(head).value_or(0) : 0;
        if (value > largest && value >= least_role && value >= 2 * mean.value(equal).value_or(0)) {
            largest = value;
            role = &mean;
        }
    }
    return role;
}

std::string mean_text(const ShownMean& mean, const model::HeadSummary& head)
{
    return fmt::format("{} {}", mean.header, math::fixed(mean.value(head).value_or(0), 2));
}

} // namespace attn::report
