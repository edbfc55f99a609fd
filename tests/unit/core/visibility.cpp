#include "attn/core/visibility.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/view.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

namespace {

using attn::ElementType;
using attn::StoredTensor;
using attn::TensorView;
using attn::core::AttentionInputs;
using attn::core::BiasPlace;
using attn::core::load_bias;
using attn::core::Seen;

constexpr float hidden = -std::numeric_limits<float>::infinity();
constexpr float untouched = 7;

/// Of queries and keys of one number.
AttentionInputs inputs(attn::Index T, attn::Index S)
{
    AttentionInputs sizes;
    sizes.queries.shape = {1, 1, T, 1};
    sizes.keys.shape = sizes.values.shape = {1, 1, S, 1};
    return sizes;
}

AttentionInputs masked_by(const TensorView& mask)
{
    AttentionInputs masked = inputs(mask.shape[2], mask.shape[3]);
    masked.mask = mask;
    return masked;
}

/// Two rows of three keys, in rows of four.
std::array<float, 8> tile(const TensorView& mask, attn::Index row, attn::Index key, bool expect_seen = true)
{
    std::array<float, 8> to{};
    to.fill(untouched);
    EXPECT_EQ(load_bias(masked_by(mask), {}, {.b = 0, .h = 0, .row = row, .rows = 2, .key = key, .keys = 3}, to.data(), 4),
              expect_seen);
    return to;
}

StoredTensor mask(ElementType type, const std::vector<double>& values, const attn::Shape& shape)
{
    StoredTensor tensor("mask", type, shape);
    tensor.bytes = attn::to_bytes<double>(type, values);
    return tensor;
}

const std::vector<double> three_by_four{1, 0, 1, 1, //
                                        0, 0, 0, 1, //
                                        0, 0, 0, 0};

TEST(LoadBias, MakesBooleansZeroOrMinusInfinity)
{
    const StoredTensor seen = mask(ElementType::boolean, three_by_four, {1, 1, 3, 4});
    EXPECT_EQ(tile(seen.view(), 0, 0), (std::array{0.0F, hidden, 0.0F, untouched, hidden, hidden, hidden, untouched}));
    EXPECT_EQ(tile(seen.view(), 0, 1), (std::array{hidden, 0.0F, 0.0F, untouched, hidden, hidden, 0.0F, untouched}));
}

TEST(LoadBias, SaysWhetherAnythingIsSeen)
{
    const StoredTensor seen = mask(ElementType::boolean, three_by_four, {1, 1, 3, 4});
    (void)tile(seen.view(), 1, 0, false);
    (void)tile(seen.view(), 1, 1, true);
}

TEST(LoadBias, TakesNumbersOfEveryTypeAndZerosAfterTheEndOfTheMask)
{
    for (const ElementType type : {ElementType::float16, ElementType::bfloat16, ElementType::float32, ElementType::float64}) {
        const StoredTensor added = mask(type, {1, 2, 0.5, -4, 3, 2, 1, -0.25}, {1, 1, 2, 4});
        EXPECT_EQ(tile(added.view(), 0, 2), (std::array{0.5F, -4.0F, 0.0F, untouched, 1.0F, -0.25F, 0.0F, untouched}));
    }
}

TEST(LoadBias, ReadsAnyStridesAndByteOrders)
{
    const StoredTensor seen = mask(ElementType::boolean, three_by_four, {1, 1, 3, 4});
    TensorView turned = seen.view(); // (4, 3): columns are rows
    std::swap(turned.shape[2], turned.shape[3]);
    std::swap(turned.strides[2], turned.strides[3]);
    EXPECT_EQ(tile(turned, 2, 0), (std::array{0.0F, hidden, hidden, untouched, 0.0F, 0.0F, hidden, untouched}));

    TensorView repeated = seen.view(); // one row for all
    repeated.strides[2] = 0;
    EXPECT_EQ(tile(repeated, 0, 0), (std::array{0.0F, hidden, 0.0F, untouched, 0.0F, hidden, 0.0F, untouched}));

    StoredTensor added = mask(ElementType::float32, {1, 2, 3, 4, 5, 6}, {1, 1, 2, 3});
    for (auto at = added.bytes.begin(); at != added.bytes.end(); at += 4) {
        std::reverse(at, at + 4);
    }
    TensorView swapped = added.view();
    swapped.swapped = true;
    EXPECT_EQ(tile(swapped, 0, 0), (std::array{1.0F, 2.0F, 3.0F, untouched, 4.0F, 5.0F, 6.0F, untouched}));
}

TEST(LoadBias, ReadsRowsByPositionWhateverTheirOrderStridesAndByteOrder)
{
    const StoredTensor seen = mask(ElementType::boolean, three_by_four, {1, 1, 3, 4});
    AttentionInputs two = masked_by(seen.view());
    two.query_positions = {0, 2};
    std::array<double, 8> of_two{};
    EXPECT_TRUE(load_bias(two, {}, {.b = 0, .h = 0, .row = 0, .rows = 2, .key = 0, .keys = 4}, of_two.data(), 4));
    EXPECT_EQ(of_two, (std::array<double, 8>{0, hidden, 0, 0, hidden, hidden, hidden, hidden}));

    StoredTensor columns = mask(ElementType::float64, {0, 1, 2, 3, 4, 5}, {1, 1, 2, 3});
    for (auto at = columns.bytes.begin(); at != columns.bytes.end(); at += 8) {
        std::reverse(at, at + 8);
    }
    TensorView turned = columns.view(); // (3, 2)
    turned.shape = {1, 1, 3, 2};
    turned.strides = {0, 0, 1, 3};
    turned.swapped = true;
    AttentionInputs three = masked_by(turned);
    three.query_positions = {2, 0, 1};
    std::array<double, 6> of_three{};
    EXPECT_TRUE(load_bias(three, {}, {.b = 0, .h = 0, .row = 0, .rows = 3, .key = 0, .keys = 2}, of_three.data(), 2));
    EXPECT_EQ(of_three, (std::array<double, 6>{2, 5, 0, 3, 1, 4}));
}

TEST(LoadBias, RefusesABooleanThatIsNeitherZeroNorOne)
{
    StoredTensor seen = mask(ElementType::boolean, three_by_four, {1, 1, 3, 4});
    seen.bytes[6] = std::byte{2};
    std::array<float, 8> to{};
    EXPECT_THROW(
        (void)load_bias(masked_by(seen.view()), {}, {.b = 0, .h = 0, .row = 0, .rows = 2, .key = 0, .keys = 3}, to.data(), 4),
        attn::Error);
}

TEST(SeenByMask, IsWhatALoopOverTheBlockFinds)
{
    std::mt19937 engine(3);
    const auto draw = [&](attn::Index least, attn::Index most) {
        return std::uniform_int_distribution<attn::Index>(least, most)(engine);
    };
    std::array<int, 4> found{};
    for (int round = 0; round < 3000; ++round) {
        const auto type = static_cast<ElementType>(draw(0, 4));
        const double open = type == ElementType::boolean ? 1 : 0, shut = type == ElementType::boolean ? 0 : hidden;
        const attn::Shape shape{draw(1, 2), draw(1, 2), draw(1, 9), draw(1, 40)};
        const attn::Index first = draw(0, shape[2] - 1), key = draw(0, shape[3] - 1);
        const BiasPlace place{draw(0, shape[0] - 1), draw(0, shape[1] - 1), first, draw(1, shape[2] - first), key, draw(1, 40)};
        std::vector<double> values(static_cast<std::size_t>(attn::element_count(shape)), draw(0, 1) != 0 ? open : shut);
        for (attn::Index others = draw(0, 40); others > 0; --others) { // beside the block, or in it
            values[static_cast<std::size_t>(draw(0, std::ssize(values) - 1))] = type != ElementType::boolean && draw(0, 2) == 0
                                                                                    ? -1
                                                                                : draw(0, 1) != 0 ? open
                                                                                                  : shut;
        }
        const StoredTensor stored = mask(type, values, shape);
        const TensorView view = stored.view();
        bool all = true, none = true;
        for (attn::Index i = place.row; i < place.row + place.rows; ++i) {
            for (attn::Index j = key; j < std::min(key + place.keys, shape[3]); ++j) {
                const double value = view.at(std::array{place.b, place.h, i, j});
                all = all && value == open;
                none = none && value == shut;
            }
        }
        const Seen expected = all ? Seen::all : none ? Seen::none : Seen::some;
        ASSERT_EQ(seen_by_mask(masked_by(view), place), expected) << round;
        ++found.at(static_cast<std::size_t>(expected));
    }
    EXPECT_GT(found[static_cast<std::size_t>(Seen::none)], 500);
    EXPECT_GT(found[static_cast<std::size_t>(Seen::some)], 500);
    EXPECT_GT(found[static_cast<std::size_t>(Seen::all)], 500);
}

TEST(SeenByMask, KnowsOnlySomeOfWhatIsMoreThanAMaskOrNoNumberOrLiesElsewhere)
{
    const BiasPlace place{.b = 0, .h = 0, .row = 0, .rows = 2, .key = 0, .keys = 2};
    StoredTensor stored = mask(ElementType::boolean, {1, 1, 1, 1}, {1, 1, 2, 2});
    AttentionInputs masked = masked_by(stored.view());
    EXPECT_EQ(seen_by_mask(masked, place), Seen::all);
    masked.query_positions = {1, 0};
    EXPECT_EQ(seen_by_mask(masked, place), Seen::all);
    masked.slopes = {0.5};
    EXPECT_EQ(seen_by_mask(masked, place), Seen::some);
    masked.slopes.clear();
    masked.extra_key = true;
    EXPECT_EQ(seen_by_mask(masked, place), Seen::some);
    masked.extra_key = false;
    std::swap(masked.mask->strides[2], masked.mask->strides[3]);
    EXPECT_EQ(seen_by_mask(masked, place), Seen::some);
    EXPECT_EQ(seen_by_mask(inputs(2, 2), place), Seen::some);
    stored.bytes[3] = std::byte{2};
    EXPECT_EQ(seen_by_mask(masked_by(stored.view()), place), Seen::some);
}

/// Of queries at `positions`, for words and one key behind them.
std::vector<double> with_extra_key(AttentionInputs words, const attn::core::AttentionOptions& options,
                                   const std::vector<attn::Index>& positions)
{
    const attn::Index keys = ++words.keys.shape[2];
    const auto rows = static_cast<attn::Index>(positions.size());
    words.query_positions = positions;
    words.extra_key = true;
    EXPECT_TRUE(has_numbers(words, options));
    EXPECT_EQ(visible_keys(words, options, 0, 0).end, keys);
    std::vector<double> bias(positions.size() * static_cast<std::size_t>(keys));
    EXPECT_TRUE(load_bias(words, options, {.b = 0, .h = 0, .row = 0, .rows = rows, .key = 0, .keys = keys}, bias.data(), keys));
    return bias;
}

TEST(ExtraKey, IsSeenWhateverTheWordsAllow)
{
    EXPECT_EQ(with_extra_key(inputs(2, 3), {.causal = true}, {0, 2}), (std::vector<double>{0, hidden, hidden, 0, 0, 0, 0, 0}));
    EXPECT_EQ(with_extra_key(inputs(1, 3), {.window = attn::core::Window{0, 0}}, {1}),
              (std::vector<double>{hidden, 0, hidden, 0}));
}

TEST(ExtraKey, JoinsMasksOfBothKinds)
{
    const StoredTensor numbers = mask(ElementType::float32, {1.5F, -2, 3, 4}, {1, 1, 2, 2}); // the third key is beyond the mask
    AttentionInputs added = inputs(2, 3);
    added.mask = numbers.view();
    EXPECT_EQ(with_extra_key(added, {.causal = true}, {0, 1}), (std::vector<double>{1.5, hidden, hidden, 0, 3, 4, hidden, 0}));
    const StoredTensor seen = mask(ElementType::boolean, {0, 1, 1, 0}, {1, 1, 2, 2});
    EXPECT_EQ(with_extra_key(masked_by(seen.view()), {}, {0, 1}), (std::vector<double>{hidden, 0, 0, 0, hidden, 0}));
}

TEST(Visible, IsARangeWhereNothingIsAdded)
{
    AttentionInputs moved = inputs(2, 4);
    moved.offsets = {1};
    moved.lengths = {3};
    const attn::core::Visible seen = visible(moved, {.window = attn::core::Window{1, 1}}, {.b = 0, .h = 0, .i = 1});
    EXPECT_EQ(seen.bias.size(), 0);
    EXPECT_FALSE(seen.sees(0));
    EXPECT_EQ(seen.added(1), 0);
    EXPECT_TRUE(seen.sees(2));
    EXPECT_FALSE(seen.sees(3)); // beyond the length
}

TEST(Visible, HasTheNumbersOfTheQueryAlone)
{
    const StoredTensor numbers =
        mask(ElementType::float32, {0, 0, 0, 1.5F, -std::numeric_limits<float>::infinity(), 4}, {1, 1, 2, 3});
    AttentionInputs added = masked_by(numbers.view());
    added.slopes = {0.5};
    const attn::core::Visible seen = visible(added, {.causal = true}, {.b = 0, .h = 0, .i = 1});
    EXPECT_EQ(seen.added(0), 1);
    EXPECT_FALSE(seen.sees(1));
    EXPECT_FALSE(seen.sees(2));
    EXPECT_EQ(seen.bias(2), 3.5);
}

TEST(Visible, TakesOffTheSlopeOfItsHeadOrOfItsHeadInItsBatchEntry)
{
    AttentionInputs inputs = attn::core::without_numbers({.B = 2, .H = 2, .H_kv = 1, .T = 2, .S = 3, .d_k = 1, .d_v = 1});
    const auto bias = [&](attn::Index b, attn::Index h) { return attn::core::visible(inputs, {}, {b, h, 1}).bias; };
    inputs.slopes = {1, 2};
    EXPECT_EQ(bias(1, 0), (attn::RowVector<double>{{-1, 0, -1}}));
    EXPECT_EQ(bias(1, 1), (attn::RowVector<double>{{-2, 0, -2}}));
    inputs.slopes = {1, 2, 3, -4};
    EXPECT_EQ(bias(0, 1), (attn::RowVector<double>{{-2, 0, -2}}));
    EXPECT_EQ(bias(1, 0), (attn::RowVector<double>{{-3, 0, -3}}));
    EXPECT_EQ(bias(1, 1), (attn::RowVector<double>{{4, 0, 4}}));
}

} // namespace
