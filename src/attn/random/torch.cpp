#include "attn/random/torch.hpp"

#include "attn/math/elementary.hpp"
#include "attn/random/fused.hpp"
#include "attn/random/torch_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

namespace attn::random {

namespace {

constexpr std::size_t block = 16;

// One word's low 24 bits over 2^24, as PyTorch makes a float32 of [0, 1).
float unit_float(std::uint32_t word)
{
    return static_cast<float>(static_cast<std::int32_t>(word & 0xffffff)) * 0x1p-24F;
}

} // namespace

TorchStream::TorchStream(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed)) {}

std::vector<float> TorchStream::unit_floats(Index count)
{
    std::vector<float> draws(static_cast<std::size_t>(count));
    for (float& draw : draws) {
        draw = unit_float(engine_());
    }
    return draws;
}

std::vector<double> TorchStream::uniform(Index count, double low, double high)
{
    const auto from = static_cast<float>(low);
    const float width = static_cast<float>(high) - from;
    std::vector<double> draws(static_cast<std::size_t>(count));
    for (double& draw : draws) {
        draw = unit_float(engine_());
    }
    if (from != 0.0F || width != 1.0F) {
        for (double& draw : draws) {
            draw = fused(static_cast<float>(draw), width, from);
        }
    }
    return draws;
}

std::uint64_t TorchStream::two_words()
{
    const std::uint64_t high = engine_();
    return high << 32 | engine_();
}

double TorchStream::unit_double()
{
    return static_cast<double>(static_cast<std::int64_t>(two_words() & 0x1fffffffffffff)) * 0x1p-53;
}

double TorchStream::standard_normal()
{
    if (cached_normal_) {
        const double owed = *cached_normal_;
        cached_normal_.reset();
        return owed;
    }
    const double u1 = unit_double();
    const double u2 = unit_double();
    const double radius = std::sqrt(-2.0 * math::log1p(-u2));
    const auto [sine, cosine] = math::sincos(2.0 * std::numbers::pi * u1);
    cached_normal_ = radius * sine;
    return radius * cosine;
}

std::vector<std::uint8_t> TorchStream::bernoulli(Index count, double p)
{
    std::vector<std::uint8_t> draws(static_cast<std::size_t>(count));
    std::ranges::generate(draws, [&] { return static_cast<std::uint8_t>(unit_double() < p); });
    return draws;
}

std::vector<std::uint8_t> TorchStream::bernoulli_of_mkl(Index count, double p, bool of_float64)
{
    constexpr std::uint64_t modulus = 0x7fffffff;
    constexpr std::uint64_t multiplier = 1132489760;
    if (of_float64) { // two words make its seed, of which MKL takes the low one
        (void)engine_();
    }
    std::uint64_t state = engine_() % modulus;
    state = state == 0 ? 1 : state;
    std::vector<std::uint8_t> draws(static_cast<std::size_t>(count));
    for (std::uint8_t& draw : draws) {
        const auto share = static_cast<float>(static_cast<double>(state) / static_cast<double>(modulus));
        draw = static_cast<std::uint8_t>(share < static_cast<float>(p)); // both in single precision: tried with MKL 2026.2
        state = state * multiplier % modulus;
    }
    return draws;
}

std::vector<double> TorchStream::normal(Index count, double mean, double deviation)
{
    if (count < static_cast<Index>(block)) {
        std::vector<double> draws(static_cast<std::size_t>(count));
        for (double& draw : draws) {
            draw = static_cast<float>(standard_normal() * deviation + mean);
        }
        return draws;
    }
    std::vector<float> draws = unit_floats(count);
    const std::span<float> all(draws);
    for (std::size_t start = 0; start + block <= all.size(); start += block) {
        to_standard_normals(all.subspan(start).first<block>());
    }
    if (all.size() % block != 0) {
        const auto last = all.last<block>(); // overlaps the last whole block
        std::generate(last.begin(), last.end(), [this] { return unit_float(engine_()); });
        to_standard_normals(last);
    }
    const auto scale = static_cast<float>(deviation);
    const auto shift = static_cast<float>(mean);
    std::vector<double> result(draws.size());
    std::transform(draws.begin(), draws.end(), result.begin(), [=](float draw) { return fused(draw, scale, shift); });
    return result;
}

// The remainder of a word, or of two from a range of 2^32 numbers on; a range of one number takes its words, too.
std::vector<double> TorchStream::integers(Index count, std::int64_t low, std::int64_t high)
{
    const auto range = static_cast<std::uint64_t>(high - low);
    const bool wide = range > std::numeric_limits<std::uint32_t>::max();
    std::vector<double> draws(static_cast<std::size_t>(count));
    std::generate(draws.begin(), draws.end(), [&] {
        const std::uint64_t word = wide ? two_words() : engine_();
        return static_cast<double>(low + static_cast<std::int64_t>(word % range));
    });
    return draws;
}

} // namespace attn::random
