#include "attn/model/diagnose/diagnose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace attn::model::diagnose {
namespace {

const Mistake& called(std::string_view name)
{
    return *std::ranges::find(mistakes(), name, &Mistake::name);
}

/// As far, in tolerances, everywhere.
Candidate candidate(std::vector<const MistakeInfo*> made, double distance)
{
    Candidate candidate{.mistakes = std::move(made), .complete = true};
    candidate.distance = {.largest = distance, .worst = distance, .squares = 4 * distance * distance, .count = 4};
    return candidate;
}

/// Of a mistake of rounding, exact but for some of a hundred numbers, each a thousand tolerances away.
Candidate tipped(const Mistake& mistake, std::size_t numbers, double gross = 0.004)
{
    Candidate candidate{.mistakes = {&mistake}, .variant = mistake.on({}), .complete = true};
    candidate.distance = {.largest = 1,
                          .worst = 1000,
                          .gross = gross,
                          .squares = 1e6 * static_cast<double>(numbers),
                          .count = 100,
                          .beyond = numbers};
    return candidate;
}

Diagnosis judged(std::vector<Candidate> candidates)
{
    Diagnosis diagnosis;
    diagnosis.candidates = std::move(candidates);
    judge(diagnosis);
    return diagnosis;
}

const MistakeInfo* const one = &called("no-scale");
const MistakeInfo* const two = &called("scale-1/d");

TEST(Verdict, NamesWhatFitsAndIsTenTimesNearerThanTheNext)
{
    const Diagnosis diagnosis = judged({candidate({}, 1000), candidate({two}, 9), candidate({one}, 0.5)});
    EXPECT_EQ(diagnosis.verdict, Verdict::named);
    EXPECT_EQ(diagnosis.named, 1);
    EXPECT_EQ(diagnosis.candidates.front().mistakes, std::vector{one});
    EXPECT_DOUBLE_EQ(diagnosis.farther, 18);
}

TEST(Verdict, NamesAPair)
{
    const Diagnosis diagnosis = judged({candidate({}, 1000), candidate({one}, 50), candidate({one, two}, 0)});
    EXPECT_EQ(diagnosis.verdict, Verdict::named);
    EXPECT_EQ(diagnosis.candidates.front().mistakes, (std::vector{one, two}));
}

TEST(Verdict, NamesNoPairOfWhichOneAloneIsNearlyAsNear)
{
    EXPECT_EQ(judged({candidate({}, 1000), candidate({one}, 3), candidate({one, two}, 0.9)}).verdict, Verdict::unknown);
    EXPECT_EQ(judged({candidate({}, 1000), candidate({one}, 30), candidate({one, two}, 0.9)}).verdict, Verdict::named);
}

TEST(Verdict, TiesWhatThisInputDoesNotTellApart)
{
    const Diagnosis diagnosis = judged({candidate({}, 1000), candidate({one}, 0.5), candidate({two}, 0.6)});
    EXPECT_EQ(diagnosis.verdict, Verdict::tied);
    EXPECT_EQ(diagnosis.named, 2);
}

TEST(Verdict, TiesWhatIsFartherByNoneThatCounts)
{
    EXPECT_EQ(judged({candidate({}, 1000), candidate({one}, 0), candidate({two}, 1e-9)}).verdict, Verdict::tied);
}

TEST(Verdict, NamesNothingThatIsBeyondTheTolerance)
{
    const Diagnosis diagnosis = judged({candidate({}, 1000), candidate({one}, 1.5)});
    EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
    EXPECT_EQ(diagnosis.named, 0);
}

TEST(Verdict, NamesNothingThatIsHardlyNearerThanTheRightResult)
{
    EXPECT_EQ(judged({candidate({}, 5), candidate({one}, 0.9)}).verdict, Verdict::unknown);
}

TEST(Verdict, RanksWhatIsMeasuredOverSomeRowsBehindWhatIsMeasuredOverAll)
{
    Candidate pair = candidate({one, two}, 2);
    pair.complete = false;
    const Diagnosis diagnosis = judged({candidate({}, 1000), pair, candidate({one}, 300)});
    EXPECT_EQ(diagnosis.candidates.front().mistakes, std::vector{one});
    EXPECT_EQ(diagnosis.candidates.back().mistakes, (std::vector{one, two}));
}

TEST(Verdict, CallsNothingNearestThatIsNotTwiceAsNearAsTheRightResult)
{
    const Diagnosis nearer = judged({candidate({}, 1000), candidate({one}, 400)});
    EXPECT_EQ(nearest(nearer), &nearer.candidates.front());
    EXPECT_EQ(nearest(judged({candidate({}, 1000), candidate({one}, 600)})), nullptr);
    EXPECT_EQ(nearest(judged({candidate({}, 1000), candidate({one}, 2000)})), nullptr);
}

TEST(Verdict, NamesARoundingThatTippedOverInFewNumbers)
{
    const Mistake& rounding = called("scores-bfloat16");
    Candidate right = tipped(rounding, 90);
    right.mistakes.clear();
    right.variant = {};
    EXPECT_EQ(judged({right, tipped(rounding, 2)}).verdict, Verdict::named);
    EXPECT_EQ(judged({right, tipped(rounding, 20)}).verdict, Verdict::unknown);     // that many are no few
    EXPECT_EQ(judged({right, tipped(rounding, 2, 0.5)}).verdict, Verdict::unknown); // no rounding is so far off
    EXPECT_EQ(judged({right, tipped(rounding, 2), tipped(called("weights-bfloat16"), 4)}).verdict, Verdict::tied);
    EXPECT_EQ(judged({right, tipped(called("no-scale"), 2)}).verdict, Verdict::unknown); // it rounds nothing
    right.distance.beyond = 3;
    EXPECT_EQ(judged({right, tipped(rounding, 2)}).verdict, Verdict::unknown);
}

TEST(Distance, CountsWhatIsBeyondTheTolerance)
{
    const Yardstick yardstick({1, 1, -2, std::nan("")}, {.rtol = 0.01, .atol = 0});
    Distance distance;
    distance.add(yardstick, 0, std::vector{1.001, 1.5, -2.0, std::nan("")});
    EXPECT_EQ(distance.beyond, 1);
    EXPECT_DOUBLE_EQ(distance.share_beyond(), 0.25);
    EXPECT_NEAR(distance.gross, 0.5 / std::sqrt(2.0), 1e-12); // of the root mean square
}

TEST(Yardstick, ADifferenceOfOneIsWhatTheToleranceAllows)
{
    const Yardstick yardstick({3, -3, 0}, {.rtol = 0.1, .atol = 0});
    EXPECT_NEAR(yardstick.measure(0, 3.3), 1, 1e-12);
    EXPECT_NEAR(yardstick.measure(2, 0.1 * std::sqrt(6.0)), 1, 1e-12); // the root mean square of the numbers is √6
    EXPECT_TRUE(std::isinf(yardstick.measure(0, std::nan(""))));
    EXPECT_TRUE(std::isinf(Yardstick({INFINITY}, {}, 65504).measure(0, 65000)));
    EXPECT_EQ(Yardstick({INFINITY}, {}, 65504).measure(0, 1e9), 0); // too large for the file
    EXPECT_TRUE(std::isinf(Yardstick({-INFINITY}, {}, 65504).measure(0, 1e9)));
    EXPECT_EQ(Yardstick({std::nan("")}, {.rtol = 0, .atol = 0}).measure(0, std::nan("")), 0);
}

} // namespace
} // namespace attn::model::diagnose
