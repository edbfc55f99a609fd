#include "attn/random/numpy.hpp"

#include "attn/math/elementary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

// Masked rejection: a word cut to the bits of the largest number, until it is none above that. Where 32 bits are enough a
// word is one of the engine's, beyond two, of which the first is the high one. A range of one number draws nothing.
std::vector<double> NumpyStream::integers(Index count, std::int64_t low, std::int64_t high)
{
    const auto largest = static_cast<std::uint64_t>(high - low - 1);
    const std::uint64_t mask = 2 * std::bit_floor(largest) - 1;
    const bool wide = largest > std::numeric_limits<std::uint32_t>::max();
    std::vector<double> draws(static_cast<std::size_t>(count), static_cast<double>(low));
    if (largest == 0) {
        return draws;
    }
    for (double& draw : draws) {
        std::uint64_t number = 0;
        do {
            const std::uint64_t above = wide ? engine_() : 0;
            number = (above << 32 | engine_()) & mask;
        } while (number > largest);
        draw = static_cast<double>(low + static_cast<std::int64_t>(number));
    }
    return draws;
}

} // namespace attn::random
