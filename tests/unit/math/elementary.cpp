#include "attn/math/elementary.hpp"

#include "elementary_hashes.hpp"
#include "oracle/bit_hash.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace {

using attn::math::sincos;
using attn::math::sincos_of_glibc;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest_denormal = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();

using Function = std::function<double(double)>;
using Precise = std::function<long double(long double)>;

// The largest error over many inputs, in units of the last place of the exact result (those of denormals below 2^-1022).
double worst_error(const Function& ours, const Precise& exact, double low, double high)
{
    double worst = 0;
    for (const double x : oracle::inputs(300000, low, high)) {
        const long double wanted = exact(x);
        const int exponent = std::max(std::ilogb(wanted), -1022);
        const long double unit = std::ldexp(1.0L, exponent - 52);
        worst = std::max(worst, static_cast<double>(std::fabs(static_cast<long double>(ours(x)) - wanted) / unit));
    }
    return worst;
}

double exp_of(double x)
{
    return attn::math::exp(x);
}

double erf_of(double x)
{
    return attn::math::erf(x);
}

TEST(Elementary, GivesTheSameBitsOnEveryMachine)
{
    const std::map<std::string, Function> functions{{"log", attn::math::log},
                                                    {"log1p", attn::math::log1p},
                                                    {"exp", exp_of},
                                                    {"erf", erf_of},
                                                    {"tanh", attn::math::tanh},
                                                    {"sine", [](double x) { return sincos(x).sine; }},
                                                    {"cosine", [](double x) { return sincos(x).cosine; }}};
    for (const ElementaryHash& row : elementary_hashes) {
        std::vector<double> values = oracle::inputs(elementary_hash_inputs, row.low, row.high);
        std::transform(values.begin(), values.end(), values.begin(), functions.at(row.function));
        EXPECT_EQ(oracle::bit_hash(values), row.hash) << row.function << " on [" << row.low << ", " << row.high << ")";
    }
}

TEST(Erf, IsWithin2em14OfItsSize)
{
    for (const auto& [low, high] : {std::pair(-1.0, 1.0), {-8.0, 8.0}, {0.0, 1e-300}, {5.5, 6.5}}) {
        double worst = 0;
        for (const double x : oracle::inputs(300000, low, high)) {
            const long double wanted = std::erf(static_cast<long double>(x));
            const long double difference = std::fabs(static_cast<long double>(erf_of(x)) - wanted);
            worst = std::max(worst, static_cast<double>(difference / std::max(std::fabs(wanted), 1e-290L)));
        }
        EXPECT_LT(worst, 2e-14) << "on [" << low << ", " << high << ")";
    }
}

TEST(Erf, IsOneFarOutAndZeroAtZero)
{
    EXPECT_EQ(erf_of(6.0000001), 1.0);
    EXPECT_EQ(erf_of(-1e300), -1.0);
    EXPECT_EQ(erf_of(infinity), 1.0);
    EXPECT_EQ(erf_of(-infinity), -1.0);
    EXPECT_EQ(erf_of(0.0), 0.0);
    EXPECT_TRUE(std::signbit(erf_of(-0.0)));
    EXPECT_TRUE(std::isnan(erf_of(not_a_number)));
    EXPECT_TRUE(std::isnan(erf_of(-not_a_number)));
}

TEST(Exp, GivesWhatAnyoneKnows)
{
    EXPECT_EQ(exp_of(0.0), 1.0);
    EXPECT_EQ(exp_of(-0.0), 1.0);
    EXPECT_EQ(exp_of(1.0), std::numbers::e);
    EXPECT_EQ(exp_of(-1.0), 0x1.78b56362cef38p-2);
    EXPECT_EQ(exp_of(infinity), infinity);
    EXPECT_EQ(exp_of(-infinity), 0.0);
    EXPECT_TRUE(std::isnan(exp_of(not_a_number)));
    EXPECT_TRUE(std::isnan(exp_of(-not_a_number)));
}

TEST(Exp, IsZeroBelowTheSmallestDenormalAndInfiniteAboveTheLargestDouble)
{
    EXPECT_EQ(exp_of(-745.0), smallest_denormal);
    EXPECT_EQ(exp_of(-745.2), 0.0);
    EXPECT_EQ(exp_of(-746.5), 0.0);
    EXPECT_EQ(exp_of(-1e300), 0.0);
    EXPECT_FALSE(std::signbit(exp_of(-1e300)));
    EXPECT_LT(exp_of(709.78), infinity);
    EXPECT_EQ(exp_of(709.79), infinity);
    EXPECT_EQ(exp_of(746.5), infinity);
    EXPECT_EQ(exp_of(1e300), infinity);
}

TEST(Exp, ErrsByLessThanAUnit)
{
    const Precise exact = [](long double x) { return std::exp(x); };
    EXPECT_LT(worst_error(exp_of, exact, -1, 1), 0.8);
    EXPECT_LT(worst_error(exp_of, exact, -40, 0), 0.8);
    EXPECT_LT(worst_error(exp_of, exact, -708, 709), 0.8);
    EXPECT_LT(worst_error(exp_of, exact, -745, -708), 0.8); // denormals, rounded twice
}

TEST(Tanh, GivesWhatAnyoneKnows)
{
    EXPECT_EQ(attn::math::tanh(0.0), 0.0);
    EXPECT_FALSE(std::signbit(attn::math::tanh(0.0)));
    EXPECT_TRUE(std::signbit(attn::math::tanh(-0.0)));
    EXPECT_EQ(attn::math::tanh(infinity), 1.0);
    EXPECT_EQ(attn::math::tanh(-infinity), -1.0);
    EXPECT_EQ(attn::math::tanh(-30.0), -1.0);
    EXPECT_LT(attn::math::tanh(18.0), 1.0);
    EXPECT_EQ(attn::math::tanh(smallest_denormal), smallest_denormal);
    EXPECT_EQ(attn::math::tanh(1e-200), 1e-200);
    EXPECT_TRUE(std::isnan(attn::math::tanh(not_a_number)));
}

TEST(Tanh, IsOddAndErrsByLessThanTwoUnits)
{
    const Precise exact = [](long double x) { return std::tanh(x); };
    EXPECT_LT(worst_error(attn::math::tanh, exact, -0.35, 0.35), 0.8);
    EXPECT_LT(worst_error(attn::math::tanh, exact, 0.3, 1), 2.0);
    EXPECT_LT(worst_error(attn::math::tanh, exact, -22, 22), 2.0);
    for (const double x : oracle::inputs(1000, 0, 25)) {
        EXPECT_EQ(attn::math::tanh(-x), -attn::math::tanh(x));
    }
}

TEST(Log, GivesWhatAnyoneKnows)
{
    using attn::math::log;
    EXPECT_EQ(log(1.0), 0.0);
    EXPECT_FALSE(std::signbit(log(1.0)));
    EXPECT_EQ(log(2.0), std::numbers::ln2);
    EXPECT_EQ(log(0.0), -infinity);
    EXPECT_EQ(log(-0.0), -infinity);
    EXPECT_EQ(log(infinity), infinity);
    EXPECT_TRUE(std::isnan(log(-1.0)));
    EXPECT_TRUE(std::isnan(log(-infinity)));
    EXPECT_TRUE(std::isnan(log(not_a_number)));
    EXPECT_EQ(log(smallest_denormal), -0x1.74385446d71c3p+9);
    EXPECT_EQ(log(largest), 0x1.62e42fefa39efp+9);
    EXPECT_LT(worst_error(
                  log, [](long double x) { return std::log(x); }, 0, 4),
              0.53);
}

TEST(Log1p, GivesWhatAnyoneKnows)
{
    using attn::math::log1p;
    EXPECT_EQ(log1p(0.0), 0.0);
    EXPECT_TRUE(std::signbit(log1p(-0.0)));
    EXPECT_EQ(log1p(1.0), std::numbers::ln2);
    EXPECT_EQ(log1p(-1.0), -infinity);
    EXPECT_EQ(log1p(infinity), infinity);
    EXPECT_TRUE(std::isnan(log1p(-1.5)));
    EXPECT_TRUE(std::isnan(log1p(not_a_number)));
    EXPECT_EQ(log1p(1e-20), 1e-20);
    EXPECT_EQ(log1p(3.0), 2 * std::numbers::ln2);
    EXPECT_EQ(log1p(0x1p53), 53 * std::numbers::ln2);
    EXPECT_LT(worst_error(
                  log1p, [](long double x) { return std::log1p(x); }, -1, 3),
              1.0);
}

TEST(SineCosine, GiveWhatAnyoneKnows)
{
    EXPECT_EQ(sincos(0.0).sine, 0.0);
    EXPECT_EQ(sincos(0.0).cosine, 1.0);
    EXPECT_TRUE(std::signbit(sincos(-0.0).sine));
    EXPECT_EQ(sincos(std::numbers::pi / 6).sine, 0x1.fffffffffffffp-2); // π/6 is a little below the true one
    EXPECT_EQ(sincos(std::numbers::pi).cosine, -1.0);
    EXPECT_EQ(sincos(std::numbers::pi).sine, 0x1.1a62633145c07p-53); // what the double lacks to π
    EXPECT_TRUE(std::isnan(sincos(infinity).sine));
    EXPECT_TRUE(std::isnan(sincos(not_a_number).cosine));
}

TEST(SineCosine, ErrByLessThanOneUnit)
{
    const Function sine = [](double x) { return sincos(x).sine; };
    const Function cosine = [](double x) { return sincos(x).cosine; };
    const Precise exact_sine = [](long double x) { return std::sin(x); };
    const Precise exact_cosine = [](long double x) { return std::cos(x); };
    for (const double reach : {0.01, 1.0, 7.0, 1e5}) {
        EXPECT_LT(worst_error(sine, exact_sine, -reach, reach), 0.8) << reach;
        EXPECT_LT(worst_error(cosine, exact_cosine, -reach, reach), 0.8) << reach;
    }
}

TEST(SineCosine, AreThoseOfGlibcWhereAsked)
{
    // Python: math.sin(x).hex(), math.cos(x).hex(), with glibc 2.36; live_random_cases.py has thousands more
    for (const auto& [angle, sine, cosine] :
         std::vector<std::array<double, 3>>{{0.0, 0x0.0p+0, 0x1.0000000000000p+0},
                                            {0.05, 0x1.996dea2ff643cp-5, 0x1.ff5c31b289258p-1},
                                            {0.75, 0x1.5cffc16bf8f0dp-1, 0x1.769fec655211fp-1},
                                            {2.17, 0x1.a6cd4a65d5148p-1, -0x1.20c2a64362f76p-1},
                                            {3.27, -0x1.06419384f7fe2p-3, -0x1.fbc8e5a93bcf9p-1},
                                            {4.5, -0x1.f47ed3dc74080p-1, -0x1.afb5b54583d6ap-3},
                                            {6.25, -0x1.0fcddc3f512bcp-5, 0x1.ffb7d58a8f975p-1}}) {
        EXPECT_EQ(sincos_of_glibc(angle).sine, sine) << angle;
        EXPECT_EQ(sincos_of_glibc(angle).cosine, cosine) << angle;
    }
    EXPECT_NE(sincos(0.75).sine, sincos_of_glibc(0.75).sine);
    const Function sine = [](double x) { return sincos_of_glibc(x).sine; };
    const Function cosine = [](double x) { return sincos_of_glibc(x).cosine; };
    EXPECT_LT(worst_error(
                  sine, [](long double x) { return std::sin(x); }, 0, 7),
              0.6);
    EXPECT_LT(worst_error(
                  cosine, [](long double x) { return std::cos(x); }, 0, 7),
              0.6);
}

} // namespace
