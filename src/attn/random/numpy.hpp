// NumPy's legacy random stream.
//
//   np.random.seed(123); np.random.rand(3)     0.69646919 0.28613933 0.22685145
//   np.random.seed(0);   np.random.randn(3)    1.76405235 0.40015721 0.97873798
//   np.random.seed(42);  np.random.randint(3, size=5)    2 0 2 2 0
#pragma once

#include "attn/random/mersenne.hpp"
#include "attn/tensor/shape.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace attn::random {

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

} // namespace attn::random
