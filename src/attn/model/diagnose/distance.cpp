#include "attn/model/diagnose/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::model::diagnose {

Yardstick::Yardstick(std::vector<double> numbers, const Tolerance& tolerance, double largest_number, std::vector<double> reach)
    : numbers_(std::move(numbers)), tolerance_(tolerance), largest_(largest_number), reach_(std::move(reach))
{
    double largest = 0;
    for (const double number : numbers_) {
        largest = std::isfinite(number) ? std::max(largest, std::abs(number)) : largest;
    }
    double squares = 0; // of parts of the largest, since those of large numbers overflow
    double count = 0;
    for (const double number : numbers_) {
        if (largest > 0 && std::isfinite(number)) {
            squares += (number / largest) * (number / largest);
            ++count;
        }
    }
    typical_ = count > 0 ? largest * std::sqrt(squares / count) : 0;
}

double Yardstick::measure(std::size_t at, double value) const
{
    const double number = numbers_[at];
    if (std::isfinite(number) && std::isfinite(value)) {
        const double reach = reach_.empty() ? 0 : reach_[at];
        const double allowed = reach + tolerance_.atol + tolerance_.rtol * std::max(std::abs(number), typical_);
        const double difference = std::abs(number - value);
        return difference == 0 ? 0 : difference / allowed; // with a tolerance of 0 infinite
    }
    const bool overflows = std::isinf(number) && (number > 0 ? value > largest_ : value < -largest_);
    const bool same = number == value || overflows || (std::isnan(number) && std::isnan(value));
    return same ? 0 : std::numeric_limits<double>::infinity();
}

double Yardstick::share(std::size_t at, double value) const
{
    const double difference = std::abs(numbers_[at] - value);
    return difference == 0 ? 0 : difference / std::max(std::abs(numbers_[at]), typical_);
}

void Distance::add(const Yardstick& yardstick, std::size_t at, std::span<const double> values)
{
    for (std::size_t x = 0; x < values.size(); ++x) {
        const double measured = yardstick.measure(at + x, values[x]);
        largest = measured == 0          ? largest
                  : std::isinf(measured) ? measured
                                         : std::max(largest, std::abs(yardstick.numbers()[at + x] - values[x]));
        worst = std::max(worst, measured);
        gross = std::max(gross, std::isinf(measured) ? measured : yardstick.share(at + x, values[x]));
        beyond += measured > 1 ? 1 : 0;
        broken += std::isfinite(yardstick.numbers()[at + x]) != std::isfinite(values[x]) ? 1 : 0;
        squares += measured * measured;
    }
    count += values.size();
}

double Distance::share_beyond() const
{
    return count == 0 ? 0 : static_cast<double>(beyond) / static_cast<double>(count);
}

double Distance::typical() const
{
    return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

} // namespace attn::model::diagnose
