// The random stream of NumPy's default_rng.
//
//   rng = np.random.default_rng(123); rng.random(3)             0.68235186 0.05382102 0.22035987
//   rng = np.random.default_rng(0);   rng.standard_normal(3)    0.12573022 -0.13210486 0.64042265
#pragma once

#include "attn/tensor/shape.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace attn::random {

/// default_rng(seed): PCG64 XSL-RR seeded by SeedSequence; random / uniform / standard_normal / normal in float64, bit for bit
/// as NumPy on a processor with FMA. Sources: numpy/random/bit_generator.pyx, src/pcg64, src/distributions (NumPy 1.24).
class Pcg64Stream {
public:
    explicit Pcg64Stream(std::uint64_t seed);

    /// `count` draws of Generator.uniform(low, high); random() is (0, 1).
    [[nodiscard]] std::vector<double> uniform(Index count, double low, double high);
    /// `count` draws of Generator.normal(mean, deviation), by the ziggurat method.
    [[nodiscard]] std::vector<double> normal(Index count, double mean, double deviation);

private:
    __extension__ using Word128 = unsigned __int128;

    /// `words`: state high, state low, sequence high, sequence low.
    explicit Pcg64Stream(const std::array<std::uint64_t, 4>& words);

    void step();
    [[nodiscard]] std::uint64_t next();
    [[nodiscard]] double unit_double();
    [[nodiscard]] double standard_normal();
    [[nodiscard]] double tail(bool negative);

    Word128 state_ = 0;
    Word128 increment_;
};

} // namespace attn::random
