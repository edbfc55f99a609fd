#include "attn/report/text/notation.hpp"

#include "attn/math/decimal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::report {
namespace {

/// Of the finite numbers other than zero; without any, largest is 0.
struct Magnitudes {
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;
};

template <typename Scalar>
Magnitudes magnitudes_of(std::span<const Scalar> numbers)
{
    Magnitudes found;
    for (const Scalar value : numbers) {
        const double magnitude = std::abs(static_cast<double>(value));
        if (std::isfinite(magnitude) && magnitude != 0) {
            found.smallest = std::min(found.smallest, magnitude);
            found.largest = std::max(found.largest, magnitude);
        }
    }
    return found;
}

bool is_written_as_zero(double magnitude, int digits)
{
    return math::fixed(magnitude, digits).find_first_of("123456789") == std::string::npos;
}

} // namespace

template <typename Scalar>
Notation notation_of(std::span<const Scalar> numbers, int digits)
{
    constexpr double long_in_fixed = 1e5; // "100000.0000" has one character more than "1.0000e+05", for any number of digits
    const double largest = magnitudes_of(numbers).largest;
    const bool scientific = largest != 0 && (largest >= long_in_fixed || is_written_as_zero(largest, digits));
    return scientific ? Notation::scientific : Notation::fixed;
}

// PyTorch's rule (torch/_tensor_str.py, _Formatter) over the finite values other than zero.
template <typename Scalar>
Notation notation_of_row(std::span<const Scalar> row)
{
    const auto [smallest, largest] = magnitudes_of(row);
    const bool scientific = largest != 0 && (largest / smallest > 1000 || largest > 1e8 || smallest < 1e-4);
    return scientific ? Notation::scientific : Notation::fixed;
}

template <typename Scalar>
std::vector<Notation> notations_of(std::span<const Scalar> matrix, Index rows, NotationRule rule, int digits)
{
    const auto count = static_cast<std::size_t>(rows);
    if (rule == NotationRule::fixed) {
        return std::vector<Notation>(count, notation_of(matrix, digits));
    }
    std::vector<Notation> notations;
    for (std::size_t i = 0, columns = rows == 0 ? 0 : matrix.size() / count; i < count; ++i) {
        notations.push_back(notation_of_row(matrix.subspan(i * columns, columns)));
    }
    return notations;
}

std::string text_of(double value, Notation notation, int digits)
{
    return notation == Notation::fixed ? math::fixed(value, digits) : math::scientific(value, digits);
}

template Notation notation_of(std::span<const float>, int);
template Notation notation_of(std::span<const double>, int);
template Notation notation_of_row(std::span<const float>);
template Notation notation_of_row(std::span<const double>);
template std::vector<Notation> notations_of(std::span<const float>, Index, NotationRule, int);
template std::vector<Notation> notations_of(std::span<const double>, Index, NotationRule, int);

} // namespace attn::report
