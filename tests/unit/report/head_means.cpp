#include "attn/report/head_means.hpp"

#include <gtest/gtest.h>

namespace {

using attn::model::HeadSummary;
using attn::report::role_of;
using attn::report::ShownMean;

/// Of positions alone.
HeadSummary summary(double itself, double first, double previous)
{
    return {0, itself, first, previous, {}, {}};
}

std::string role_name(const HeadSummary& head, const HeadSummary& equal = summary(0, 0, 0))
{
    const ShownMean* role = role_of(head, equal);
    return role == nullptr ? "" : std::string(role->name);
}

TEST(HeadMeans, AHeadDoesWhatItsLargestShareSays)
{
    EXPECT_EQ(role_name(summary(0.4, 0.1, 0.5)), "previous");
    EXPECT_EQ(role_name(summary(0.4, 0.1, 0.4)), "itself"); // of equal ones the one that is declared first
    HeadSummary repeats = summary(0, 0.5, 0);
    repeats.induction = 0.75;
    EXPECT_EQ(role_name(repeats), "induction");
}

TEST(HeadMeans, AHeadWithoutALargeShareDoesNothingSpecial)
{
    HeadSummary head = summary(0.39, 0.39, 0.39);
    head.entropy = 9; // no share
    EXPECT_EQ(role_name(head), "");
}

TEST(HeadMeans, WhatEqualWeightsWouldGiveIsNothingSpecial)
{
    const HeadSummary equal = summary(0.41, 0.41, 0.29); // six words behind a causal mask
    EXPECT_EQ(role_name(summary(0.66, 0.19, 0.21), equal), "");
    EXPECT_EQ(role_name(summary(0.34, 0.34, 0.66), equal), "previous");
    EXPECT_EQ(role_name(summary(0, 0.9, 0), equal), "first");
}

TEST(HeadMeans, AreTextWithTwoDigits)
{
    const HeadSummary head = summary(0, 0.9375, 0);
    EXPECT_EQ(mean_text(*role_of(head, summary(0, 0, 0)), head), "first word 0.94");
}

} // namespace
