#include "attn/random/numpy.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using attn::Index;
using attn::random::Pcg64Stream;
using Draws = std::vector<double>;

TEST(Pcg64Stream, DrawsTheUniformsOfNumpy)
{
    // np.random.default_rng(123).random(3)
    EXPECT_EQ(Pcg64Stream(123).uniform(3, 0, 1), (Draws{0x1.5d5d393207e7dp-1, 0x1.b8e6db72f96dp-5, 0x1.c34c097745cf4p-3}));
}

TEST(Pcg64Stream, DrawsTheNormalsOfNumpy)
{
    // np.random.default_rng(0).standard_normal(3)
    EXPECT_EQ(Pcg64Stream(0).normal(3, 0, 1), (Draws{0x1.017ed89db8441p-3, -0x1.0e8cfe9bd45ccp-3, 0x1.47e57a468b06dp-1}));
}

TEST(Pcg64Stream, DrawsTheIntegersOfNumpy)
{
    // np.random.default_rng(42): integers(0, 3, 5), random(), integers(0, 2**32, 2), integers(-5, 2**40, 3), integers(0, 10)
    Pcg64Stream stream(42);
    EXPECT_EQ(stream.integers(5, 0, 3), (Draws{0, 2, 1, 1, 1}));
    EXPECT_EQ(stream.uniform(1, 0, 1), (Draws{0.6973680290593639}));
    EXPECT_EQ(stream.integers(2, 0, Index{1} << 32U), (Draws{3687649986, 865305067}));
    EXPECT_EQ(stream.integers(3, -5, Index{1} << 40U), (Draws{1072708119942, 836881952699, 864286843830}));
    EXPECT_EQ(stream.integers(1, 0, 10), Draws{0});
}

TEST(Pcg64Stream, KeepsTheSecondHalfOfAWordAcrossOtherDraws)
{
    // np.random.default_rng(7): integers(0, 10), random(), integers(0, 10), integers(0, 10)
    Pcg64Stream apart(7);
    EXPECT_EQ(apart.integers(1, 0, 10), Draws{9});
    EXPECT_EQ(apart.uniform(1, 0, 1), Draws{0x1.cb5f9b795e4cdp-1});
    EXPECT_EQ(apart.integers(2, 0, 10), (Draws{6, 5}));
    EXPECT_EQ(Pcg64Stream(7).integers(3, 0, 10), (Draws{9, 6, 6})) << "the third is of another word";
}

TEST(Pcg64Stream, DrawsNothingForOneNumber)
{
    Pcg64Stream stream(3);
    EXPECT_EQ(stream.integers(3, 5, 6), (Draws{5, 5, 5}));
    EXPECT_EQ(stream.uniform(1, 0, 1), Pcg64Stream(3).uniform(1, 0, 1));
}

TEST(Pcg64Stream, CountsAll64BitsOfTheSeed)
{
    // np.random.default_rng(2**64 - 1).random(2)
    EXPECT_EQ(Pcg64Stream(~0ULL).uniform(2, 0, 1), (Draws{0x1.5c2c74f5188eap-1, 0x1.b0ccb3ebe6704p-1}));
    EXPECT_NE(Pcg64Stream((1ULL << 32) + 123).uniform(1, 0, 1), Pcg64Stream(123).uniform(1, 0, 1));
}

TEST(Pcg64Stream, DrawsTheTailOfNumpy)
{
    // np.random.default_rng(5).standard_normal(200000): the first four beyond 3.654
    const Draws draws = Pcg64Stream(5).normal(200000, 0, 1);
    Draws far_out;
    for (const double draw : draws) {
        if (std::fabs(draw) > 3.6541528853610088) {
            far_out.push_back(draw);
        }
    }
    ASSERT_GE(far_out.size(), 4U);
    far_out.resize(4);
    EXPECT_EQ(far_out, (Draws{-0x1.dfe08f93544ep+1, 0x1.e0966b87cbe81p+1, -0x1.018766eea3773p+2, -0x1.00a1b3795feb9p+2}));
    EXPECT_EQ(draws[11643], far_out[0]);
}

TEST(Pcg64Stream, MapsUniformsAndNormalsWithTwoRoundings)
{
    const Draws unit = Pcg64Stream(5).uniform(1000, 0, 1);
    const Draws mapped = Pcg64Stream(5).uniform(1000, -0.1, 0.2);
    const Draws standard = Pcg64Stream(5).normal(1000, 0, 1);
    const Draws normal = Pcg64Stream(5).normal(1000, 0.3, 1.7);
    for (std::size_t i = 0; i < unit.size(); ++i) {
        const double scaled = (0.2 - -0.1) * unit[i];
        EXPECT_EQ(mapped[i], -0.1 + scaled);
        const double spread = 1.7 * standard[i];
        EXPECT_EQ(normal[i], 0.3 + spread);
    }
}

} // namespace
