#include "attn/report/notation.hpp"

#include "attn/math/decimal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::report {

// PyTorch's rule (torch/_tensor_str.py, _Formatter) over the finite values other than zero.
template <typename Scalar>
Notation notation_of(std::span<const Scalar> row)
{
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;
    for (const Scalar value : row) {
        const double magnitude = std::abs(static_cast<double>(value));
        if (std::isfinite(magnitude) && magnitude != 0) {
            smallest = std::min(smallest, magnitude);
            largest = std::max(largest, magnitude);
        }
    }
    const bool scientific = largest != 0 && (largest / smallest > 1000 || largest > 1e8 || smallest < 1e-4);
    return scientific ? Notation::scientific : Notation::fixed;
}

std::string text_of(double value, Notation notation, int digits)
{
    return notation == Notation::fixed ? math::fixed(value, digits) : math::scientific(value, digits);
}

template Notation notation_of(std::span<const float>);
template Notation notation_of(std::span<const double>);

} // namespace attn::report
