#include "attn/random/numpy.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using attn::random::NumpyStream;
using Draws = std::vector<double>;

TEST(NumpyStream, DrawsTheUniformsOfNumpy)
{
    // np.random.seed(123); np.random.rand(3)
    EXPECT_EQ(NumpyStream(123).uniform(3, 0, 1), (Draws{0.6964691855978616, 0.28613933495037946, 0.2268514535642031}));
}

TEST(NumpyStream, DrawsTheNormalsOfNumpy)
{
    // np.random.seed(0); np.random.randn(3)
    EXPECT_EQ(NumpyStream(0).normal(3, 0, 1), (Draws{1.764052345967664, 0.4001572083672233, 0.9787379841057392}));
}

TEST(NumpyStream, MapsUniformsAndNormalsWithTwoRoundings)
{
    const Draws unit = NumpyStream(5).uniform(1000, 0, 1);
    const Draws mapped = NumpyStream(5).uniform(1000, -0.1, 0.2);
    const Draws standard = NumpyStream(5).normal(1000, 0, 1);
    const Draws normal = NumpyStream(5).normal(1000, 0.3, 1.7);
    for (std::size_t i = 0; i < unit.size(); ++i) {
        const double scaled = (0.2 - -0.1) * unit[i];
        EXPECT_EQ(mapped[i], -0.1 + scaled);
        const double spread = 1.7 * standard[i];
        EXPECT_EQ(normal[i], 0.3 + spread);
    }
}

TEST(NumpyStream, KeepsTheSecondNormalOfAPairAcrossOtherDraws)
{
    const Draws pair = NumpyStream(9).normal(2, 0, 1);
    NumpyStream stream(9);
    EXPECT_EQ(stream.normal(1, 0, 1), Draws{pair[0]});
    (void)stream.uniform(5, 0, 1);
    EXPECT_EQ(stream.normal(1, 10, 2), Draws{10 + 2 * pair[1]});
}

TEST(NumpyStream, TakesEverySeedOf32Bits)
{
    // np.random.seed(2**32 - 1); np.random.rand()
    EXPECT_EQ(NumpyStream(0xffffffff).uniform(1, 0, 1), Draws{0.0976320289940138});
    EXPECT_TRUE(NumpyStream(1).uniform(0, 0, 1).empty());
}

} // namespace
