#include "attn/random/numpy.hpp"

#include "attn/math/elementary.hpp"
#include "attn/random/ziggurat_tables.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace attn::random {

// ---- the legacy stream -----------------------------------------------------------------------------------------------------

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

// ---- default_rng -----------------------------------------------------------------------------------------------------------

namespace {

// SeedSequence: mixes the seed's 32-bit words into a pool of four, from which it makes as many words as are asked for.
// Each hashing step also moves on the constant it hashes with.
class Hash {
public:
    Hash(std::uint32_t start, std::uint32_t factor) : constant_(start), factor_(factor) {}

    std::uint32_t operator()(std::uint32_t value)
    {
        value ^= constant_;
        constant_ *= factor_;
        value *= constant_;
        return value ^ (value >> 16);
    }

private:
    std::uint32_t constant_;
    std::uint32_t factor_;
};

using Pool = std::array<std::uint32_t, 4>;

std::uint32_t mixed(std::uint32_t x, std::uint32_t y)
{
    const std::uint32_t result = 0xca01f9ddU * x - 0x4973f715U * y;
    return result ^ (result >> 16);
}

Pool pool_of(std::uint64_t seed)
{
    Hash hash(0x43b0d7e5U, 0x931e8875U);
    Pool pool{hash(static_cast<std::uint32_t>(seed)), hash(static_cast<std::uint32_t>(seed >> 32)), hash(0), hash(0)};
    for (std::size_t from = 0; from < pool.size(); ++from) {
        for (std::size_t to = 0; to < pool.size(); ++to) {
            if (from != to) {
                pool[to] = mixed(pool[to], hash(pool[from]));
            }
        }
    }
    return pool;
}

// Four 64-bit words, each from two 32-bit ones, the low one first.
std::array<std::uint64_t, 4> words_of(const Pool& pool)
{
    Hash hash(0x8b51f9ddU, 0x58f38dedU);
    std::array<std::uint64_t, 4> words{};
    for (std::size_t i = 0; i < 2 * words.size(); ++i) {
        words[i / 2] |= static_cast<std::uint64_t>(hash(pool[i % pool.size()])) << (32 * (i % 2));
    }
    return words;
}

constexpr std::uint64_t multiplier_high = 2549297995355413924U;
constexpr std::uint64_t multiplier_low = 4865540595714422341U;

} // namespace

Pcg64Stream::Pcg64Stream(std::uint64_t seed) : Pcg64Stream(words_of(pool_of(seed))) {}

Pcg64Stream::Pcg64Stream(const std::array<std::uint64_t, 4>& words)
    : increment_((static_cast<Word128>(words[2]) << 64 | words[3]) << 1 | 1)
{
    step();
    state_ += static_cast<Word128>(words[0]) << 64 | words[1];
    step();
}

void Pcg64Stream::step()
{
    state_ = state_ * (static_cast<Word128>(multiplier_high) << 64 | multiplier_low) + increment_;
}

// PCG XSL-RR 128/64: a linear congruential step, then the two halves of the state xored and rotated by its upper 6 bits.
std::uint64_t Pcg64Stream::next()
{
    step();
    const auto halves = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
    return std::rotr(halves, static_cast<int>(state_ >> 122));
}

std::uint32_t Pcg64Stream::next_half()
{
    if (cached_half_) {
        const std::uint32_t owed = *cached_half_;
        cached_half_.reset();
        return owed;
    }
    const std::uint64_t word = next();
    cached_half_ = static_cast<std::uint32_t>(word >> 32);
    return static_cast<std::uint32_t>(word);
}

double Pcg64Stream::unit_double()
{
    return static_cast<double>(static_cast<std::int64_t>(next() >> 11)) * 0x1p-53;
}

// One word picks a layer (8 bits), a sign (1) and a place in the layer (52). Nearly always that place lies under the curve.
double Pcg64Stream::standard_normal()
{
    for (;;) {
        const std::uint64_t word = next();
        const std::size_t layer = word & 0xff;
        const bool negative = (word >> 8 & 1) != 0;
        const std::uint64_t place = word >> 9 & 0xfffffffffffff;
        const double size = static_cast<double>(static_cast<std::int64_t>(place)) * ziggurat::widths[layer];
        const double x = negative ? -size : size;
        if (place < ziggurat::limits[layer]) {
            return x;
        }
        if (layer == 0) {
            return tail((place >> 8 & 1) != 0); // the base layer takes the sign of its tail from another bit
        }
        const double bottom = ziggurat::heights[layer];
        const double height = (ziggurat::heights[layer - 1] - bottom) * unit_double() + bottom;
        if (height < math::exp(-0.5 * x * x)) {
            return x;
        }
    }
}

// Marsaglia's method for what lies beyond the last layer.
double Pcg64Stream::tail(bool negative)
{
    constexpr double start = 3.6541528853610087963519472518;
    constexpr double inverse_start = 0.27366123732975827203338247596;
    for (;;) {
        const double x = -inverse_start * math::log1p(-unit_double());
        const double y = -math::log1p(-unit_double());
        if (y + y > x * x) {
            return negative ? -(start + x) : start + x;
        }
    }
}

std::vector<double> Pcg64Stream::uniform(Index count, double low, double high)
{
    const double width = high - low;
    std::vector<double> draws(static_cast<std::size_t>(count));
    std::generate(draws.begin(), draws.end(), [&] { return low + width * unit_double(); });
    return draws;
}

std::vector<double> Pcg64Stream::normal(Index count, double mean, double deviation)
{
    std::vector<double> draws(static_cast<std::size_t>(count));
    std::generate(draws.begin(), draws.end(), [&] { return mean + deviation * standard_normal(); });
    return draws;
}

// Lemire's method ("Fast Random Integer Generation in an Interval", 2019): what stands above the point of word·range, unless
// what stands below it is among the 2^bits mod range that would make some numbers likelier. A word has 32 bits where they are
// enough, and 64 beyond. A range of one number draws nothing.
std::vector<double> Pcg64Stream::integers(Index count, std::int64_t low, std::int64_t high)
{
    const auto range = static_cast<std::uint64_t>(high - low);
    std::vector<double> draws(static_cast<std::size_t>(count), static_cast<double>(low));
    if (range == 1) {
        return draws;
    }
    const bool wide = range - 1 > std::numeric_limits<std::uint32_t>::max();
    const int bits = wide ? 64 : 32;
    const std::uint64_t below = wide ? std::numeric_limits<std::uint64_t>::max() : std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t uneven = (below - range + 1) % range;
    for (double& draw : draws) {
        Word128 product = 0;
        do {
            product = static_cast<Word128>(wide ? next() : next_half()) * range;
        } while ((static_cast<std::uint64_t>(product) & below) < uneven);
        draw = static_cast<double>(low + static_cast<std::int64_t>(product >> bits));
    }
    return draws;
}

} // namespace attn::random
