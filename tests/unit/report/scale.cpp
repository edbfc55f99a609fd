#include "attn/report/scale.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using attn::report::Scale;
using attn::report::Shade;
using attn::report::shade_of;

TEST(Scale, IsByRowWhereThereAreManyKeysAndNobodySaysOtherwise)
{
    EXPECT_EQ(shade_of({}, 24), Shade::absolute);
    EXPECT_EQ(shade_of({}, 25), Shade::row);
    EXPECT_EQ(shade_of({.shade = Shade::log}, 25), Shade::log);
    EXPECT_EQ(shade_of({.most = 0.5}, 25), Shade::absolute);
}

TEST(Scale, GoesFromEndToEnd)
{
    const Scale scale{.low = -1, .high = 3};
    EXPECT_EQ(scale.share(-1), 0);
    EXPECT_EQ(scale.share(1), 0.5);
    EXPECT_EQ(scale.share(3), 1);
    constexpr double most = std::numeric_limits<double>::max();
    EXPECT_EQ((Scale{.low = -most, .high = most}.share(0)), 0.5);
}

TEST(Scale, OfLogarithmsHasFourDecades)
{
    const Scale scale{.low = 0, .high = 0.5, .shade = Shade::log};
    EXPECT_EQ(scale.share(0.5), 1);
    EXPECT_DOUBLE_EQ(scale.share(0.005), 0.5);
    EXPECT_NEAR(scale.share(0.00005), 0, 1e-12);
    EXPECT_LT(scale.share(1e-9), 0);
    EXPECT_EQ(scale.share(0), 0);
}

} // namespace
