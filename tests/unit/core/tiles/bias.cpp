#include "attn/core/tiles/bias.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/stored.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace {

using attn::ElementType;
using attn::StoredTensor;
using attn::TensorView;
using attn::core::load_bias;

constexpr float hidden = -std::numeric_limits<float>::infinity();
constexpr float untouched = 7;

/// Two rows of three keys, in rows of four.
std::array<float, 8> tile(const TensorView& mask, attn::Index row, attn::Index key, bool expect_seen = true)
{
    std::array<float, 8> to{};
    to.fill(untouched);
    EXPECT_EQ(load_bias(mask, {.b = 0, .h = 0, .row = row, .rows = 2, .key = key, .keys = 3}, to.data(), 4), expect_seen);
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

TEST(LoadBias, RefusesABooleanThatIsNeitherZeroNorOne)
{
    StoredTensor seen = mask(ElementType::boolean, three_by_four, {1, 1, 3, 4});
    seen.bytes[6] = std::byte{2};
    std::array<float, 8> to{};
    EXPECT_THROW((void)load_bias(seen.view(), {.b = 0, .h = 0, .row = 0, .rows = 2, .key = 0, .keys = 3}, to.data(), 4),
                 attn::Error);
}

} // namespace
