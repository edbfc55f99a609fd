#include "attn/random/torch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace {

using attn::Index;
using attn::random::TorchStream;
using Draws = std::vector<double>;

Draws first(Draws draws, std::size_t count)
{
    draws.resize(count);
    return draws;
}

TEST(TorchStream, DrawsTheUniformsOfTheTutorial)
{
    // torch.manual_seed(123); torch.rand(3)
    EXPECT_EQ(TorchStream(123).uniform(3, 0, 1), (Draws{0.29611194133758545, 0.516562283039093, 0.2516707181930542}));
}

TEST(TorchStream, DrawsTheEmbeddingOfTheTutorial)
{
    // torch.manual_seed(123); torch.nn.Embedding(6, 16).weight[0, :4]
    EXPECT_EQ(first(TorchStream(123).normal(6 * 16, 0, 1), 4),
              (Draws{0x1.597792p-2, -0x1.6c1676p-3, -0x1.36cffp-2, -0x1.2d0fe4p-1}));
}

TEST(TorchStream, DrawsFewNormalsOneByOne)
{
    // torch.manual_seed(0); torch.randn(5)
    const Draws five{0x1.8a7eb8p+0, -0x1.2c78ap-2, -0x1.16e292p+1, 0x1.23096cp-1, -0x1.15a342p+0};
    EXPECT_EQ(TorchStream(0).normal(5, 0, 1), five);
    TorchStream one_by_one(0);
    for (const double wanted : five) {
        EXPECT_EQ(one_by_one.normal(1, 0, 1), Draws{wanted});
    }
}

TEST(TorchStream, DrawsNormalsOfFloat64FromTwiceAsManyWords)
{
    // torch.manual_seed(0); torch.randn(5, dtype=torch.float64)
    const Draws five{0x1.8a7eb8902be3ap+0, -0x1.2c78a087c6feap-2, -0x1.16e2920a70ee5p+1, 0x1.23096ca3e350dp-1,
                     -0x1.15a341987e136p+0};
    EXPECT_EQ(TorchStream(0).normal_of_float64(5, 0, 1), five);
    EXPECT_EQ(TorchStream(0).normal_of_float64(2, 1, 2), (Draws{1 + 2 * five[0], 1 + 2 * five[1]}));
    // torch.manual_seed(0); torch.randn(17, dtype=torch.float64), torch.randn(2, dtype=torch.float64), torch.rand(1)
    TorchStream stream(0);
    EXPECT_EQ(
        stream.normal_of_float64(17, 0, 1),
        (Draws{-0x1.27bb92e9262dcp+1, -0x1.443c91ccf2402p-1, -0x1.42cbf54f08f8ep+0, -0x1.7432edfaba107p-1,
               -0x1.471a3c0e2f22ap-6, 0x1.aeb1b572b6a04p-3, 0x1.6ae2402b7b62bp-3, -0x1.a9389d082941dp-1, 0x1.e8e503666016dp-3,
               -0x1.f101e358981adp-3, -0x1.8bc82256d975bp-1, -0x1.985dd0627b1f0p+0, -0x1.5fbef2bc4be3bp-1, 0x1.7cf270386ca66p+0,
               -0x1.cb2d8340fb171p-2, -0x1.c8318cc163de5p-1, 0x1.5986ed8e63e98p-1}));
    EXPECT_EQ(stream.normal_of_float64(2, 0, 1), (Draws{0x1.50bf0c228c7ddp-1, 0x1.e0979b1e6876dp-1}));
    EXPECT_EQ(stream.uniform(1, 0, 1), Draws{0x1.d5c35p-4});
}

TEST(TorchStream, DrawsTheIntegersOfPytorch)
{
    // torch.manual_seed(0); torch.randint(0, 10, (5,))
    EXPECT_EQ(TorchStream(0).integers(5, 0, 10), (Draws{4, 9, 3, 0, 3}));
    // torch.manual_seed(1); torch.randint(-5, 2**40, (4,)), torch.randint(0, 10, (5,)), torch.rand(1)
    TorchStream stream(1);
    EXPECT_EQ(stream.integers(4, -5, Index{1} << 40U), (Draws{163161683746, 605240299608, 1095766941198, 876143845934}));
    EXPECT_EQ(stream.integers(5, 0, 10), (Draws{9, 2, 8, 9, 6}));
    EXPECT_EQ(stream.uniform(1, 0, 1), Draws{0.30514949560165405});
    // torch.randint(5, 6, (1,)), torch.randint(0, 10, (2,)): one number takes a word, too
    EXPECT_EQ(stream.integers(1, 5, 6), Draws{5});
    EXPECT_EQ(stream.integers(2, 0, 10), (Draws{0, 2}));
}

TEST(TorchStream, CountsTheLow32BitsOfTheSeedOnly)
{
    EXPECT_EQ(TorchStream((1ULL << 32) + 123).uniform(4, 0, 1), TorchStream(123).uniform(4, 0, 1));
    EXPECT_EQ(TorchStream(~0ULL).uniform(4, 0, 1), TorchStream(0xffffffff).uniform(4, 0, 1));
}

TEST(TorchStream, MapsUniformsWithOneRounding)
{
    // torch.manual_seed(2); torch.empty(3).uniform_(-0.25, 0.5)
    EXPECT_EQ(TorchStream(2).uniform(3, -0.25, 0.5), (Draws{0x1.b02bfp-3, 0x1.24f168p-5, 0x1.d29b8ep-3}));
    EXPECT_EQ(TorchStream(123).uniform(1, 0, 2), Draws{2 * 0.29611194133758545});
    const Draws unit = TorchStream(5).uniform(1000, 0, 1);
    const Draws mapped = TorchStream(5).uniform(1000, -0.1, 0.2);
    const float low = -0.1F;
    const float width = 0.2F - low;
    for (std::size_t i = 0; i < unit.size(); ++i) {
        EXPECT_EQ(mapped[i], std::fma(static_cast<float>(unit[i]), width, low));
    }
}

TEST(TorchStream, KeepsTheSecondNormalOfAPairAcrossOtherDraws)
{
    TorchStream together(9);
    const Draws pair = together.normal(2, 0, 1);
    TorchStream apart(9);
    EXPECT_EQ(apart.normal(1, 0, 1), Draws{pair[0]});
    const Draws block = apart.normal(16, 0, 1);
    EXPECT_EQ(block, together.normal(16, 0, 1)) << "a block of 16 neither takes nor drops it";
    EXPECT_EQ(apart.uniform(3, 0, 1), together.uniform(3, 0, 1));
    EXPECT_EQ(apart.normal(1, 10, 2), Draws{static_cast<float>(pair[1] * 2 + 10)}) << "it is scaled when it is given";
}

TEST(TorchStream, DrawsTheLastSixteenAgainWhenTheyAreNoWholeBlock)
{
    // 17 normals take 17 + 16 words: the first normal comes from the first block, the last 16 are a block of their own.
    TorchStream seventeen(4);
    const Draws drawn = seventeen.normal(17, 0, 1);
    TorchStream parts(4);
    EXPECT_EQ(drawn[0], parts.normal(16, 0, 1)[0]);
    (void)parts.uniform(1, 0, 1);
    const Draws last = parts.normal(16, 0, 1);
    EXPECT_TRUE(std::equal(last.begin(), last.end(), drawn.begin() + 1));
    EXPECT_EQ(seventeen.uniform(2, 0, 1), parts.uniform(2, 0, 1));
}

/// "1101…"
std::string written(const std::vector<std::uint8_t>& draws)
{
    std::string text;
    for (const std::uint8_t draw : draws) {
        text += draw != 0 ? '1' : '0';
    }
    return text;
}

TEST(TorchStream, DrawsTheBernoullisOfADropoutThatIsPublished)
{
    // torch.manual_seed(123); torch.nn.Dropout(0.5)(torch.ones(6, 6)) on macOS and on Linux, pytorch issue 121595
    TorchStream stream(123);
    EXPECT_EQ(written(stream.bernoulli(36, 0.5)), "110110000101111101011001010101011110");
    TorchStream words(123);
    (void)words.uniform(72, 0, 1); // two words each
    EXPECT_EQ(stream.uniform(3, 0, 1), words.uniform(3, 0, 1));

    TorchStream of_mkl(123);
    EXPECT_EQ(written(of_mkl.bernoulli_of_mkl(36, 0.5, false)), "111111010000001010110001100001010000");
    EXPECT_EQ(written(TorchStream(123).bernoulli_of_mkl(36, 0.5, true)), "110000001001001101010110011111110011");
    TorchStream one(123);
    (void)one.uniform(1, 0, 1); // a word seeds MKL's generator
    EXPECT_EQ(of_mkl.uniform(3, 0, 1), one.uniform(3, 0, 1));
}

TEST(TorchStream, DrawsBernoullisOfTheProbability)
{
    for (const double p : {0.0, 0.1, 0.5, 0.9, 1.0}) {
        for (const std::vector<std::uint8_t>& draws :
             {TorchStream(1).bernoulli(100000, p), TorchStream(1).bernoulli_of_mkl(100000, p, false)}) {
            EXPECT_NEAR(static_cast<double>(std::accumulate(draws.begin(), draws.end(), 0)) / 1e5, p, 0.005);
        }
    }
    EXPECT_TRUE(TorchStream(1).bernoulli(0, 0.5).empty());
}

TEST(TorchStream, GivesFloatsOfTheRange)
{
    for (const double draw : TorchStream(11).uniform(100000, 0, 1)) {
        ASSERT_TRUE(draw >= 0 && draw < 1 && draw == static_cast<float>(draw));
    }
    for (const double draw : TorchStream(11).normal(100000, 0.5, 3)) {
        ASSERT_TRUE(std::isfinite(draw) && draw == static_cast<float>(draw));
    }
}

TEST(TorchStream, DrawsNothingWhenNothingIsAskedFor)
{
    TorchStream stream(3);
    EXPECT_TRUE(stream.uniform(0, 0, 1).empty());
    EXPECT_TRUE(stream.normal(0, 0, 1).empty());
    EXPECT_EQ(stream.uniform(3, 0, 1), TorchStream(3).uniform(3, 0, 1));
}

TEST(TorchStream, CopiesItsPlace)
{
    TorchStream stream(8);
    (void)stream.normal(3, 0, 1);
    TorchStream copy = stream;
    EXPECT_EQ(copy.normal(20, 0, 1), stream.normal(20, 0, 1));
    EXPECT_EQ(copy.normal(1, 0, 1), stream.normal(1, 0, 1));
}

} // namespace
