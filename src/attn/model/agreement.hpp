// How two numbers agree: what `check` and `compare` have in common.
#pragma once

#include "attn/tensor/element.hpp"

namespace attn::model {

struct Tolerance {
    double rtol = 0;
    double atol = 0;
    [[nodiscard]] bool exact() const { return rtol == 0 && atol == 0; }
};

/// |computed - stated| ≤ atol + rtol·|stated|; an infinity agrees with itself alone, NaN with NaN when `equal_nan`.
[[nodiscard]] bool within(double computed, double stated, const Tolerance& tolerance, bool equal_nan = true);

/// |computed - stated|; 0 for equal infinities.
[[nodiscard]] double absolute_difference(double computed, double stated);

/// How many steps lead from x to y in a floating-point `type`, both rounded to it; -0 is 0. NaN is 0 from NaN; a NaN or an
/// infinity is as far as can be from what it does not equal.
[[nodiscard]] std::uint64_t ulps_between(double x, double y, ElementType type);

/// The largest differences, and where they are. Differences that are not finite do not count.
struct Largest {
    double absolute = 0;
    double relative = 0; ///< difference / |stated|, over stated ≠ 0
    Index absolute_at = 0, relative_at = 0;

    void measure(double difference, double stated, Index place);
};

} // namespace attn::model
