#include "attn/model/diagnose/suggest.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace attn::model::diagnose {
namespace {

Candidate of(std::string_view name)
{
    const Mistake& mistake = *std::ranges::find(mistakes(), name, &Mistake::name);
    return {.mistakes = {&mistake}, .variant = mistake.on({})};
}

/// What ties them does not matter: only its types, shapes and options do.
class SuggestedInput : public testing::Test {
protected:
    StoredTensor queries{"q", ElementType::float32, {2, 5, 4}};
    StoredTensor keys{"k", ElementType::float32, {2, 5, 4}};
    StoredTensor values{"v", ElementType::float32, {2, 5, 4}};
    Attend options;

    [[nodiscard]] AttendInputs inputs() const { return {queries.view(), keys.view(), values.view(), {}, {}, {}, {}}; }
    [[nodiscard]] Suggestion suggested(const AttendInputs& given, const std::vector<Candidate>& tied) const
    {
        return suggest_input({given, options, attn::model::RunSettings()}, tied, {});
    }
};

const StoredTensor& tensor_called(const Suggestion& suggestion, std::string_view name)
{
    return *std::ranges::find(suggestion.tensors, name, &StoredTensor::name);
}

TEST_F(SuggestedInput, KeepsTheShapesWhereTheNumbersTieThem)
{
    const Suggestion found = suggested(inputs(), {of("no-scale"), of("exp-base-2"), of("softmax-largest")});
    EXPECT_TRUE(found.same_shapes);
    EXPECT_TRUE(found.alike.empty());
    ASSERT_EQ(found.tensors.size(), 3);
    for (const StoredTensor& tensor : found.tensors) {
        EXPECT_EQ(tensor.shape, queries.shape);
        EXPECT_EQ(tensor.type, ElementType::float32);
    }
    EXPECT_EQ(found.tried, 1);
}

TEST_F(SuggestedInput, HasOtherSizesWhereTheSizesTieThem)
{
    keys = {"k", ElementType::float32, {2, 16, 4}};
    values = keys;
    const Suggestion scales = suggested(inputs(), {of("scale-1/d"), of("scale-keys")}); // √16 is 4
    EXPECT_FALSE(scales.same_shapes);
    EXPECT_TRUE(scales.alike.empty());
    EXPECT_NE(tensor_called(scales, "keys").shape, keys.shape);
}

TEST_F(SuggestedInput, IsNoneWhereMistakesAreOne)
{
    const Suggestion found = suggested(inputs(), {of("scale-1/d"), of("scale-twice")});
    EXPECT_TRUE(found.tensors.empty());
    EXPECT_GT(found.tried, 5);
}

TEST_F(SuggestedInput, SaysWhatItLeavesTied)
{
    const Suggestion found = suggested(inputs(), {of("scale-1/d"), of("no-scale"), of("scale-twice")});
    EXPECT_EQ(found.tensors.size(), 3);
    EXPECT_EQ(found.alike, (std::vector<std::vector<std::size_t>>{{0, 2}}));
}

TEST_F(SuggestedInput, HasMasksLengthsAndCachesAsTheInputHas)
{
    StoredTensor mask{"m", ElementType::boolean, {5, 4}}; // a short one
    StoredTensor lengths{"l", ElementType::int64, {1}};
    AttendInputs given = inputs();
    given.mask = mask.view();
    const Suggestion masks = suggested(given, {of("mask-missing"), of("mask-inverted")});
    EXPECT_EQ(tensor_called(masks, "mask").shape, mask.shape);
    EXPECT_EQ(tensor_called(masks, "mask").type, ElementType::boolean);
    given.mask.reset();
    lengths.bytes = attn::to_bytes<double>(ElementType::int64, std::vector{5.0});
    given.lengths = lengths.view();
    const Suggestion padding = suggested(given, {of("lengths-missing"), of("lengths-less"), of("lengths-more")});
    EXPECT_EQ(tensor_called(padding, "lengths").type, ElementType::int64);
    EXPECT_TRUE(padding.alike.empty());
    given.lengths.reset();
    given.past_key = keys.view();
    given.past_value = values.view();
    options.causal = true;
    const Suggestion cache = suggested(given, {of("cache-missing"), of("cache-last"), of("causal-top-left")});
    EXPECT_EQ(cache.tensors.size(), 5);
    EXPECT_TRUE(cache.alike.empty());
}

} // namespace
} // namespace attn::model::diagnose
