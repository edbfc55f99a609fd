#include "attn/random/numpy.hpp"

#include "attn/math/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace attn::random {

NumpyStream::NumpyStream(std::uint32_t seed) : engine_(seed) {}

double NumpyStream::unit_double()
{
    const auto high = static_cast<std::int32_t>(engine_() >> 5);
    const auto low = static_cast<std::int32_t>(engine_() >> 6);
    return (high * 0x1p26 + low) / 0x1p53;
}

// Marsaglia's polar method (legacy_gauss). NumPy gives the second of the pair first.
double NumpyStream::standard_normal()
{
    if (cached_normal_) {
        const double owed = *cached_normal_;
        cached_normal_.reset();
        return owed;
    }
    for (;;) {
        const double x1 = 2.0 * unit_double() - 1.0;
        const double x2 = 2.0 * unit_double() - 1.0;
        const double square = x1 * x1 + x2 * x2;
        if (square < 1.0 && square != 0.0) {
            const double factor = std::sqrt(-2.0 * math::log(square) / square);
            cached_normal_ = factor * x1;
            return factor * x2;
        }
    }
}

std::vector<double> NumpyStream::uniform(Index count, double low, double high)
{
    const double width = high - low;
    std::vector<double> draws(static_cast<std::size_t>(count));
    std::generate(draws.begin(), draws.end(), [&] { return low + width * unit_double(); });
    return draws;
}

std::vector<double> NumpyStream::normal(Index count, double mean, double deviation)
{
    std::vector<double> draws(static_cast<std::size_t>(count));
    std::generate(draws.begin(), draws.end(), [&] { return mean + deviation * standard_normal(); });
    return draws;
}

} // namespace attn::random
