// How far a variant's numbers are from those of a file.
#pragma once

#include "attn/model/check/check.hpp"

#include <limits>
#include <span>
#include <vector>

namespace attn::model::diagnose {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The numbers of a file as a yardstick: a difference of 1 is as much as the tolerance allows,
/// |a - x| / (atol + rtol·max(|a|, root mean square of a)), because an error of float16 is one of the sums, not of the small
/// numbers that they may cancel to.
class Yardstick {
public:
    /// `largest`: what a number of the file may be at most; larger ones are infinite there. `reach`: by how much more each
    /// number may differ, if any may.
    Yardstick(std::vector<double> numbers, const Tolerance& tolerance, double largest = std::numeric_limits<double>::infinity(),
              std::vector<double> reach = {});

    [[nodiscard]] const std::vector<double>& numbers() const { return numbers_; }
    /// The difference of number `at` from `value`, in tolerances: 0 for NaN from NaN and equal infinities, infinite for either
    /// from anything else.
    [[nodiscard]] double measure(std::size_t at, double value) const;
    /// The same as a share of the number, or of the root mean square where that is more.
    [[nodiscard]] double share(std::size_t at, double value) const;

private:
    std::vector<double> numbers_;
    Tolerance tolerance_;
    double largest_;
    std::vector<double> reach_;
    double typical_ = 0;
};

/// What was measured of some numbers.
struct Distance {
    double largest = 0;     ///< |a - x|
    double worst = 0;       ///< in tolerances
    double gross = 0;       ///< as a share of the numbers
    double squares = 0;     ///< of all, in tolerances
    std::size_t count = 0;  ///< of numbers
    std::size_t beyond = 0; ///< of those that differ by more than the tolerance
    std::size_t broken = 0; ///< of those of which one alone is finite

    void add(const Yardstick& yardstick, std::size_t at, std::span<const double> values);
    /// The root of the mean of squares, in tolerances.
    [[nodiscard]] double typical() const;
    /// `beyond` of `count`.
    [[nodiscard]] double share_beyond() const;
};

} // namespace attn::model::diagnose
