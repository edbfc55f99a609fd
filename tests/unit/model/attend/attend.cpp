#include "attn/model/attend/attend.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace {

using attn::ElementType;
using attn::Error;
using attn::ErrorKind;
using attn::Shape;
using attn::StoredTensor;
using attn::model::Attend;
using attn::model::AttendInputs;
using attn::model::AttendResult;
using attn::model::Item;

const double nan = std::nan("");

/// Keeps the bytes of tensors that a test writes down.
class AttendTest : public testing::Test {
protected:
    attn::TensorView tensor(Shape shape, const std::vector<double>& values, ElementType type = ElementType::float32)
    {
        kept_.push_back(std::make_unique<std::vector<std::byte>>(attn::to_bytes<double>(type, values)));
        return attn::row_major_view(type, std::move(shape), *kept_.back());
    }

    /// Queries so large that the first attends to key 0 alone, the second to key 1.
    AttendInputs sharp(ElementType type = ElementType::float32)
    {
        return {tensor({2, 2}, {1e3, 0, 0, 1e3}, type),
                tensor({2, 2}, {1, 0, 0, 1}, type),
                tensor({2, 1}, {7, 9}, type),
                {},
                {},
                {},
                {}};
    }

    /// Queries of 0: every key that is seen counts alike.
    AttendInputs level(attn::Index T, const std::vector<double>& values)
    {
        const auto S = static_cast<attn::Index>(values.size());
        return {tensor({T, 1}, std::vector<double>(static_cast<std::size_t>(T), 0)),
                tensor({S, 1}, std::vector<double>(values.size(), 1)),
                tensor({S, 1}, values),
                {},
                {},
                {},
                {}};
    }

    static AttendResult attend(const AttendInputs& inputs, const Attend& options = {})
    {
        return attn::model::attend(inputs, options, {});
    }
    static std::vector<double> context(const AttendInputs& inputs, const Attend& options = {})
    {
        return attn::load<double>(attend(inputs, options).tensors.at(0).view()).values;
    }
    static void expect_refused(const AttendInputs& inputs, const Attend& options, ErrorKind kind, const std::string& message)
    {
        EXPECT_EQ(error_of(kind, [&] { (void)attend(inputs, options); }), message);
    }

private:
    std::vector<std::unique_ptr<std::vector<std::byte>>> kept_;
};

TEST_F(AttendTest, TakesTheValueOfTheKeyThatFits)
{
    EXPECT_EQ(context(sharp()), (std::vector<double>{7, 9}));
}

TEST_F(AttendTest, MeansTheValuesOfTheKeysThatABooleanMaskLets)
{
    AttendInputs inputs = level(2, {2, 4, 9});
    inputs.mask = tensor({2, 3}, {1, 1, 0, 0, 0, 1}, ElementType::boolean);
    EXPECT_EQ(context(inputs), (std::vector<double>{3, 9}));
}

TEST_F(AttendTest, AlignsTheCausalDiagonalAsAsked)
{
    AttendInputs inputs = level(2, {2, 4, 9});
    Attend options;
    options.causal = true;
    EXPECT_EQ(context(inputs, options), (std::vector<double>{2, 3}));
    options.align = attn::model::CausalAlign::bottom_right;
    EXPECT_EQ(context(inputs, options), (std::vector<double>{3, 5}));
    options.align = attn::model::CausalAlign::offset;
    inputs.past_key = tensor({1, 1}, {1});
    inputs.past_value = tensor({1, 1}, {10});
    EXPECT_EQ(context(inputs, options), (std::vector<double>{6, 16.0F / 3}));
    options.align = attn::model::CausalAlign::top_left;
    EXPECT_EQ(context(inputs, options), (std::vector<double>{10, 6}));
}

TEST_F(AttendTest, GivesZerosOrNanForARowWithoutKeys)
{
    AttendInputs inputs = level(2, {2, 4});
    inputs.mask = tensor({2, 1}, {0, -infinity});
    Attend options;
    EXPECT_EQ(context(inputs, options), (std::vector<double>{2, 0}));
    options.nan_for_empty_rows = true;
    EXPECT_TRUE(std::isnan(context(inputs, options)[1]));
}

TEST_F(AttendTest, GivesEmptyRowsWhereThereAreNoKeysAtAll)
{
    AttendInputs inputs = level(1, {});
    Attend options;
    options.show = {Item::weights, Item::context, Item::entropy};
    const AttendResult zeros = attend(inputs, options);
    EXPECT_EQ(zeros.tensors[0].shape, (Shape{1, 0}));
    EXPECT_EQ(attn::load<float>(zeros.tensors[1].view()).values, std::vector<float>{0});
    options.nan_for_empty_rows = true;
    const AttendResult nans = attend(inputs, options);
    EXPECT_TRUE(std::isnan(attn::load<float>(nans.tensors[1].view()).values[0]));
    EXPECT_TRUE(std::isnan(attn::load<float>(nans.tensors[2].view()).values[0]));
}

TEST_F(AttendTest, GivesNothingForNoQueries)
{
    const AttendResult result = attend(level(0, {2, 4}));
    EXPECT_EQ(result.tensors[0].shape, (Shape{0, 1}));
}

TEST_F(AttendTest, ComputesInFloat64WhereAnyOfThemIsAndGivesTheQueriesType)
{
    AttendInputs inputs = sharp();
    inputs.values = tensor({2, 1}, {1e300, 9}, ElementType::float64); // would overflow float32 on the way in
    inputs.queries = tensor({1, 2}, {-1e3, 1e3}, ElementType::float16);
    const AttendResult result = attend(inputs);
    EXPECT_EQ(result.tensors[0].type, ElementType::float16);
    EXPECT_EQ(attn::load<double>(result.tensors[0].view()).values, std::vector<double>{9});
}

TEST_F(AttendTest, GivesTheStagesInOrderAndTheCacheInTheKeysType)
{
    AttendInputs inputs = sharp(ElementType::float64);
    inputs.keys = tensor({2, 2}, {1, 0, 0, 1}, ElementType::float16);
    inputs.past_key = tensor({1, 2}, {5, 6}, ElementType::float16);
    inputs.past_value = tensor({1, 1}, {3}, ElementType::float64);
    Attend options;
    options.show = {Item::present_key, Item::context, Item::scores};
    const AttendResult result = attend(inputs, options);
    ASSERT_EQ(result.tensors.size(), 3U);
    EXPECT_EQ(result.tensors[0].name, "scores");
    EXPECT_EQ(result.tensors[1].name, "context");
    EXPECT_EQ(result.tensors[2].name, "present_key");
    EXPECT_EQ(result.tensors[2].type, ElementType::float16);
    EXPECT_EQ(attn::load<double>(result.tensors[2].view()).values, (std::vector<double>{5, 6, 1, 0, 0, 1}));
}

TEST_F(AttendTest, RefusesStagesThatTheOptionsDoNotMake)
{
    Attend options;
    options.show = {Item::capped_scores};
    expect_refused(sharp(), options, ErrorKind::usage, "--show capped_scores requires --softcap");
    options.show = {Item::masked_scores};
    expect_refused(sharp(), options, ErrorKind::usage, "--show masked_scores requires a mask, such as --causal, or ALiBi");
}

TEST_F(AttendTest, RefusesNumbersThatAreNotFiniteNamingTheirPlace)
{
    AttendInputs inputs = sharp();
    inputs.values = tensor({2, 1}, {1, nan});
    expect_refused(inputs, {}, ErrorKind::data,
                   "values at (1, 0): got nan; allowed: finite numbers, or any with --allow-nonfinite");
    inputs = sharp();
    inputs.past_key = tensor({1, 2}, {1, -infinity});
    inputs.past_value = tensor({1, 1}, {1});
    expect_refused(inputs, {}, ErrorKind::data,
                   "past_key at (0, 1): got -inf; allowed: finite numbers, or any with --allow-nonfinite");
}

TEST_F(AttendTest, RefusesAMaskWithNanOrPlusInfinityNamingThePlace)
{
    AttendInputs inputs = sharp();
    Attend options;
    for (const auto& [value, place] :
         {std::pair(nan, "at (1, 0): got nan;"), std::pair(double{infinity}, "at (1, 0): got inf;")}) {
        inputs.mask = tensor({2, 2}, {0, -infinity, value, 0});
        options.allow_nonfinite = false;
        const std::string message = error_of([&] { (void)attend(inputs, options); });
        EXPECT_NE(message.find(place), std::string::npos) << message;
        options.allow_nonfinite = true;
        // An infinite score takes the whole row, NaN spoils it.
        EXPECT_EQ(std::isnan(context(inputs, options)[1]), std::isnan(value));
    }
}

TEST_F(AttendTest, RefusesABooleanMaskOfOtherBytes)
{
    AttendInputs inputs = sharp();
    const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}};
    inputs.mask = attn::row_major_view(ElementType::boolean, {2}, bytes);
    expect_refused(inputs, {}, ErrorKind::data, "element of a bool tensor: got 2; allowed: 0 or 1");
}

TEST_F(AttendTest, RefusesWhatDoesNotFitInMemoryBeforeAllocating)
{
    const attn::Index many = attn::Index{1} << 20;
    const std::vector<std::byte> bytes(static_cast<std::size_t>(many) * 4);
    const attn::TensorView column = attn::row_major_view(ElementType::float32, {many, 1}, bytes);
    Attend options;
    options.show = {Item::weights, Item::context};
    const auto too_large = [&] {
        (void)attn::model::attend({column, column, column, {}, {}, {}, {}}, options,
                                  {.show = {}, .memory_limit = attn::Index{1} << 30, .observer = {}});
    };
    EXPECT_NE(error_of(ErrorKind::too_large, too_large), "no error");
}

TEST_F(AttendTest, WarnsWhenAScoreOverflows)
{
    const AttendInputs inputs{tensor({1, 2}, {3e38, 3e38}), tensor({1, 2}, {3e38, 3e38}), tensor({1, 1}, {1}), {}, {}, {}, {}};
    const std::vector<std::string> warnings = attend(inputs).warnings;
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0], "scores: a dot product overflowed float32; +∞ takes the whole weight of its row; "
                           "--out-dtype float64 avoids it");
    EXPECT_TRUE(attend(sharp()).warnings.empty());
    Attend knowingly;
    knowingly.allow_nonfinite = true;
    EXPECT_TRUE(attend(inputs, knowingly).warnings.empty());
}

TEST_F(AttendTest, ComputesInFloat64WhenAnyOfTheThreeIsWide)
{
    AttendInputs inputs = level(1, {1, 1});
    inputs.values = tensor({2, 1}, {16777217, -16777216}, ElementType::float64); // 2^24 + 1, which is no float32
    EXPECT_EQ(context(inputs), std::vector<double>{0.5});
    Attend scores;
    scores.show = {Item::scores};
    inputs = {tensor({1, 2}, {1, 1}),
              tensor({1, 2}, {16777217, -16777216}, ElementType::float64),
              tensor({1, 1}, {1}),
              {},
              {},
              {},
              {}};
    EXPECT_EQ(context(inputs, scores), std::vector<double>{1});
}

TEST_F(AttendTest, NamesTheTensorThatIsNotFinite)
{
    AttendInputs inputs = level(1, {1});
    inputs.past_key = tensor({1, 1}, {1});
    inputs.past_value = tensor({1, 1}, {nan});
    expect_refused(inputs, {}, ErrorKind::data,
                   "past_value at (0, 0): got nan; allowed: finite numbers, or any with --allow-nonfinite");
    inputs.past_value = tensor({1, 1}, {1});
    inputs.past_key = tensor({1, 1}, {infinity});
    expect_refused(inputs, {}, ErrorKind::data,
                   "past_key at (0, 0): got inf; allowed: finite numbers, or any with --allow-nonfinite");
}

TEST_F(AttendTest, TellsTheObserverHowFarItIsAndStopsWhenItThrows)
{
    std::vector<double> shares;
    (void)attn::model::attend(sharp(), {}, {.show = {}, .observer = [&](const auto& p) { shares.push_back(p.share); }});
    ASSERT_GE(shares.size(), 2U);
    EXPECT_EQ(shares.front(), 0);
    EXPECT_EQ(shares.back(), 1);
    const auto stop = [](const attn::model::Progress&) { throw Error(ErrorKind::interrupted, "stop"); };
    EXPECT_THROW((void)attn::model::attend(sharp(), {}, {.show = {}, .observer = stop}), Error);
}

} // namespace
