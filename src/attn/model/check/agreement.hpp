// How two numbers agree, and what comparing many of them finds: the engine of `check` and `compare`.
#pragma once

#include "attn/tensor/element.hpp"

namespace attn::model {

struct Tolerance {
    double rtol = 0;
    double atol = 0;
    [[nodiscard]] bool exact() const { return rtol == 0 && atol == 0; }
};

/// What torch.testing.assert_close allows for a type; for two types that which allows more. Integers and booleans: nothing.
[[nodiscard]] Tolerance usual_tolerance(ElementType type);
[[nodiscard]] Tolerance usual_tolerance(ElementType a, ElementType b);

/// |computed - stated| ≤ atol + rtol·|stated|; an infinity agrees with itself alone, NaN with NaN when `equal_nan`.
[[nodiscard]] bool within(double computed, double stated, const Tolerance& tolerance, bool equal_nan = true);

/// |computed - stated|; 0 for equal infinities.
[[nodiscard]] double absolute_difference(double computed, double stated);

/// How many steps lead from x to y in a floating-point `type`, both rounded to it; -0 is 0. NaN is 0 from NaN; a NaN or an
/// infinity is as far as can be from what it does not equal.
[[nodiscard]] std::uint64_t ulps_between(double x, double y, ElementType type);

/// What comparing an array finds. Elements are counted in the order in which they come, places from 0.
struct Tally {
    Index compared = 0, mismatched = 0;
    Index first = 0; ///< place of the first mismatch
    double largest_absolute = 0;
    double largest_relative = 0; ///< difference / |stated|, over stated ≠ 0
    Index absolute_at = 0, relative_at = 0;
    Index unmeasured = 0;       ///< mismatches whose difference is infinite or NaN
    Index first_unmeasured = 0; ///< place of the first of those

    void count(bool agrees);
    /// Of numbers. A difference that is not finite is not measured.
    void count(bool agrees, double difference, double stated);
};

} // namespace attn::model
