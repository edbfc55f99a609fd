// One comparison for all tests: shape, then every value, naming the first index that differs.
#pragma once

#include "attn/tensor/shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace oracle {

/// |computed - stated| ≤ atol + rtol·|stated| everywhere; equal infinities and NaN pairs are close.
template <typename Computed, typename Stated>
testing::AssertionResult close(const std::vector<Computed>& computed, const std::vector<Stated>& stated, double rtol,
                               double atol)
{
    if (computed.size() != stated.size()) {
        return testing::AssertionFailure() << computed.size() << " values, expected " << stated.size();
    }
    for (std::size_t i = 0; i < computed.size(); ++i) {
        const auto x = double(computed[i]), y = double(stated[i]);
        const bool same = x == y || (std::isnan(x) && std::isnan(y));
        if (!same && !(std::abs(x - y) <= atol + rtol * std::abs(y))) {
            return testing::AssertionFailure()
                   << "at flat index " << i << ": " << x << ", expected " << y << ", difference " << std::abs(x - y);
        }
    }
    return testing::AssertionSuccess();
}

} // namespace oracle
