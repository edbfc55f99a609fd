#include "attn/random/numpy.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using attn::Index;
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

TEST(NumpyStream, DrawsTheIntegersOfNumpy)
{
    // np.random.seed(42); np.random.randint(3, size=9)
    EXPECT_EQ(NumpyStream(42).integers(9, 0, 3), (Draws{2, 0, 2, 2, 0, 0, 2, 1, 2}));
    // np.random.seed(1); np.random.randint(-5, 2**40, size=4); np.random.randint(0, 10, 5)
    NumpyStream stream(1);
    EXPECT_EQ(stream.integers(4, -5, Index{1} << 40U), (Draws{163196666086, 1095766950788, 876169207424, 620178591868}));
    EXPECT_EQ(stream.integers(5, 0, 10), (Draws{7, 6, 9, 2, 4}));
}

TEST(NumpyStream, DrawsNothingForOneNumber)
{
    NumpyStream stream(3);
    EXPECT_EQ(stream.integers(3, -2, -1), (Draws{-2, -2, -2}));
    EXPECT_EQ(stream.uniform(1, 0, 1), NumpyStream(3).uniform(1, 0, 1));
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
