// NumPy's two random streams: the legacy one and that of default_rng.
#pragma once

#include "attn/random/mersenne.hpp"
#include "attn/tensor/shape.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace attn::random {

// NumPy's legacy random stream.
//
//   np.random.seed(123); np.random.rand(3)     0.69646919 0.28613933 0.22685145
//   np.random.seed(0);   np.random.randn(3)    1.76405235 0.40015721 0.97873798
//   np.random.seed(42);  np.random.randint(3, size=5)    2 0 2 2 0

/// np.random.seed(seed), then np.random.rand / randn / uniform / normal in float64 and randint in int64, bit for bit as NumPy
/// on a processor with FMA. Sources: numpy/random/src/mt19937, legacy-distributions.c, distributions.c (NumPy 1.24).
class NumpyStream {
public:
    explicit NumpyStream(std::uint32_t seed);

    /// `count` draws of np.random.uniform(low, high); rand is (0, 1).
    [[nodiscard]] std::vector<double> uniform(Index count, double low, double high);
    /// `count` draws of np.random.normal(mean, deviation); randn is (0, 1). They come in pairs, of which the second survives
    /// into the next call.
    [[nodiscard]] std::vector<double> normal(Index count, double mean, double deviation);
    /// `count` draws of np.random.randint(low, high), low to high - 1; random::integers says which limits it takes.
    [[nodiscard]] std::vector<double> integers(Index count, std::int64_t low, std::int64_t high);

private:
    [[nodiscard]] double unit_double();
    [[nodiscard]] double standard_normal();

    Mersenne engine_;
    std::optional<double> cached_normal_; ///< the second of a pair, still owed
};

// The random stream of NumPy's default_rng.
//
//   rng = np.random.default_rng(123); rng.random(3)             0.68235186 0.05382102 0.22035987
//   rng = np.random.default_rng(0);   rng.standard_normal(3)    0.12573022 -0.13210486 0.64042265
//   rng = np.random.default_rng(42);  rng.integers(0, 3, 5)     0 2 1 1 1

/// default_rng(seed): PCG64 XSL-RR seeded by SeedSequence; random / uniform / standard_normal / normal in float64 and integers
/// in int64, bit for bit as NumPy on a processor with FMA. Sources: numpy/random/bit_generator.pyx, src/pcg64,
/// src/distributions (NumPy 1.24).
class Pcg64Stream {
public:
    explicit Pcg64Stream(std::uint64_t seed);

    /// `count` draws of Generator.uniform(low, high); random() is (0, 1).
    [[nodiscard]] std::vector<double> uniform(Index count, double low, double high);
    /// `count` draws of Generator.normal(mean, deviation), by the ziggurat method.
    [[nodiscard]] std::vector<double> normal(Index count, double mean, double deviation);
    /// `count` draws of Generator.integers(low, high), low to high - 1; random::integers says which limits it takes. Halves of
    /// words are drawn, of which the second survives into the next call.
    [[nodiscard]] std::vector<double> integers(Index count, std::int64_t low, std::int64_t high);

private:
    __extension__ using Word128 = unsigned __int128;

    /// `words`: state high, state low, sequence high, sequence low.
    explicit Pcg64Stream(const std::array<std::uint64_t, 4>& words);

    void step();
    [[nodiscard]] std::uint64_t next();
    [[nodiscard]] std::uint32_t next_half();
    [[nodiscard]] double unit_double();
    [[nodiscard]] double standard_normal();
    [[nodiscard]] double tail(bool negative);

    Word128 state_ = 0;
    Word128 increment_;
    std::optional<std::uint32_t> cached_half_; ///< the upper half of a word, still owed
};

} // namespace attn::random
