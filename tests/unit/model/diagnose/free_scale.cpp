#include "attn/model/diagnose/free_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace attn::model::diagnose {
namespace {

Call call_with(attn::Index d_k, attn::Index heads)
{
    Call call;
    call.views.sizes.H = heads;
    call.views.sizes.H_kv = heads;
    call.views.sizes.T = call.views.sizes.S = 1000;
    call.views.sizes.d_k = call.views.sizes.d_v = d_k;
    return call;
}

/// Numbers that only one scale gives; `noise`: how far they are even there.
std::optional<FreeScale> found(const Call& call, double scale, double noise = 0)
{
    return free_scale(call, [=](double tried) { return noise + 1e4 * std::abs(std::log(tried / scale)); });
}

TEST(FreeScale, IsFoundToTheLastDigitsAndToldBesideTheRightOne)
{
    const std::optional<FreeScale> scale = found(call_with(80, 4), 0.0913);
    ASSERT_TRUE(scale);
    EXPECT_NEAR(scale->scale, 0.0913, 1e-8);
    EXPECT_EQ(scale->what, "scores times 0.0913; the right scale is 0.112");
}

TEST(FreeScale, HasANameWhereItIsThatOfAnotherSize)
{
    EXPECT_EQ(found(call_with(80, 4), 1 / std::sqrt(128.0))->what,
              "scores times 0.0884, which is 1/√128; d_k is 80: a padded head?");
    EXPECT_EQ(found(call_with(80, 12), 1 / std::sqrt(12.0))->what, "scores times 0.289, which is 1/√12; there are 12 heads");
    EXPECT_EQ(found(call_with(80, 12), 0.125)->what, "scores times 0.125, which is 1/8; the right scale is 0.112");
    EXPECT_EQ(found(call_with(80, 12), 2 / std::sqrt(80.0))->what,
              "scores times 0.224, which is twice the right one; the right scale is 0.112");
}

TEST(FreeScale, IsTheScaleThatHasTheNameWhereRoundingAloneSetsThemApart)
{
    const std::optional<FreeScale> scale = found(call_with(80, 4), 1.00002 / std::sqrt(96.0), 0.5);
    ASSERT_TRUE(scale);
    EXPECT_EQ(scale->scale, 1 / std::sqrt(96.0));
}

TEST(FreeScale, IsNoneWhereNoScaleComesNear)
{
    EXPECT_FALSE(found(call_with(80, 4), 0.0884, 3));
    EXPECT_FALSE(found(call_with(80, 4), 1e6));
    EXPECT_FALSE(free_scale(call_with(80, 4), [](double) { return std::numeric_limits<double>::infinity(); }));
}

TEST(FreeScale, IsSoughtInEveryValley)
{
    const auto far = [](double tried) { // a wide one at 0.4, and a narrow one at 0.01
        const double wide = 5 + 10 * std::abs(std::log(tried / 0.4)), narrow = 1e3 * std::abs(std::log(tried / 0.01));
        return std::min(wide, narrow);
    };
    EXPECT_NEAR(free_scale(call_with(80, 4), far)->scale, 0.01, 1e-8);
}

} // namespace
} // namespace attn::model::diagnose
