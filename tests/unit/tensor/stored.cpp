#include "attn/tensor/view.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace {

using attn::ElementType;
using attn::StoredTensor;

std::vector<int> bytes_of(const StoredTensor& tensor)
{
    std::vector<int> bytes;
    for (const std::byte byte : tensor.bytes) {
        bytes.push_back(std::to_integer<int>(byte));
    }
    return bytes;
}

TEST(StoredTensor, BeginsAsZeros)
{
    const StoredTensor tensor("weights", ElementType::float16, {2, 3});
    EXPECT_EQ(tensor.name, "weights");
    EXPECT_EQ(bytes_of(tensor), std::vector<int>(12, 0));
    EXPECT_EQ(attn::load<float>(tensor.view()).values, std::vector<float>(6, 0));
}

TEST(StoredTensor, HoldsOneElementWithoutDimensionsAndNoneWithALengthOfZero)
{
    EXPECT_EQ(StoredTensor("", ElementType::float64, {}).bytes.size(), 8U);
    EXPECT_TRUE(StoredTensor("", ElementType::float64, {3, 0}).bytes.empty());
}

TEST(StoredTensor, RefusesWhatCannotBeAddressedBeforeAllocatingIt)
{
    const attn::Shape shape{attn::Index{1} << 40, attn::Index{1} << 22};
    EXPECT_NE(error_of(attn::ErrorKind::too_large, [&] { (void)StoredTensor("", ElementType::float64, shape); }), "no error");
}

TEST(Store, WritesLittleEndianBytesOfEachType)
{
    const std::array<float, 1> values{1.5F};
    for (const auto& [type, bytes] :
         std::vector<std::pair<ElementType, std::vector<int>>>{{ElementType::float16, {0x00, 0x3e}},
                                                               {ElementType::bfloat16, {0xc0, 0x3f}},
                                                               {ElementType::float32, {0, 0, 0xc0, 0x3f}},
                                                               {ElementType::float64, {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}}}) {
        StoredTensor tensor("", type, {1});
        attn::store<float>(tensor, 0, values);
        EXPECT_EQ(bytes_of(tensor), bytes) << attn::name_of(type);
    }
}

TEST(Store, WritesFromAFlatPositionAndLeavesTheRest)
{
    StoredTensor tensor("", ElementType::float32, {2, 3});
    const std::array<double, 2> values{7, 8};
    attn::store<double>(tensor, 2, values);
    EXPECT_EQ(attn::load<float>(tensor.view()).values, (std::vector<float>{0, 0, 7, 8, 0, 0}));
}

TEST(Store, RoundsOnceAndKeepsInfinityAndNan)
{
    // In two steps, over float32, 1 + 2^-11 + 2^-40 would fall on the middle of two float16 and then to 1.
    StoredTensor tensor("", ElementType::float16, {4});
    const std::array<double, 4> values{1 + 0x1p-11 + 0x1p-40, -std::numeric_limits<double>::infinity(), 1e6,
                                       std::numeric_limits<double>::quiet_NaN()};
    attn::store<double>(tensor, 0, values);
    const std::vector<float> stored = attn::load<float>(tensor.view()).values;
    EXPECT_EQ(stored[0], 1 + 0x1p-10F);
    EXPECT_EQ(stored[1], -std::numeric_limits<float>::infinity());
    EXPECT_EQ(stored[2], std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(stored[3]));
}

TEST(Store, RefusesPlacesOutsideAndTypesThatHoldNoFractions)
{
    StoredTensor tensor("", ElementType::float32, {2, 2});
    const std::array<float, 2> values{1, 2};
    for (const attn::Index first : {attn::Index{-1}, attn::Index{3}}) {
        EXPECT_EQ(error_of(attn::ErrorKind::internal, [&] { attn::store<float>(tensor, first, values); }),
                  "store: got 2 values at " + std::to_string(first) + "; allowed: within (2, 2)");
    }
    StoredTensor whole("", ElementType::int64, {2});
    EXPECT_THROW(attn::store<float>(whole, 0, values), attn::Error);
}

} // namespace
