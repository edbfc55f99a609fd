#include "attn/tensor/element.hpp"

#include "attn/tensor/error.hpp"
#include "unit/infinity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace {

using attn::ElementType;
using attn::from_bfloat16;
using attn::from_float16;
using attn::to_bfloat16;
using attn::to_float16;

TEST(Float16, KnowsItsLandmarks)
{
    EXPECT_EQ(from_float16(0x3c00), 1.0F);
    EXPECT_EQ(from_float16(0xc000), -2.0F);
    EXPECT_EQ(from_float16(0x7bff), 65504.0F);
    EXPECT_EQ(from_float16(0x0400), 0x1p-14F); // smallest normal
    EXPECT_EQ(from_float16(0x0001), 0x1p-24F); // smallest subnormal
    EXPECT_EQ(from_float16(0xfc00), -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::signbit(from_float16(0x8000)));
    EXPECT_TRUE(std::isnan(from_float16(0x7c01)));
}

TEST(Bfloat16, KnowsItsLandmarks)
{
    EXPECT_EQ(from_bfloat16(0x3f80), 1.0F);
    EXPECT_EQ(from_bfloat16(0xc000), -2.0F);
    EXPECT_EQ(from_bfloat16(0x7f7f), 0x1.fep127F);
    EXPECT_EQ(from_bfloat16(0x0001), 0x1p-133F);
    EXPECT_EQ(from_bfloat16(0xff80), -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(from_bfloat16(0x7f81)));
}

/// What the two formats have in common; `greatest` is the largest finite pattern.
struct Format {
    float (*from)(std::uint16_t);
    std::uint16_t (*to)(double);
    std::uint16_t greatest;
};
class SixteenBits : public testing::TestWithParam<Format> {};

TEST_P(SixteenBits, EveryPatternSurvivesTheWayThereAndBack)
{
    const auto [from, to, greatest] = GetParam();
    for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
        const auto bits = static_cast<std::uint16_t>(pattern);
        if ((bits & 0x7fffU) <= greatest + 1U) {
            ASSERT_EQ(to(from(bits)), bits) << std::hex << pattern;
        } else {
            ASSERT_TRUE(std::isnan(from(bits))) << std::hex << pattern;
            ASSERT_TRUE(std::isnan(from(to(std::nan(""))))) << std::hex << pattern;
        }
    }
}

/// Between two neighbours, the middle goes to the even one, and what is a hair beside it to the nearer one.
TEST_P(SixteenBits, RoundsToTheNearestAndTiesToEven)
{
    const auto [from, to, greatest] = GetParam();
    for (std::uint32_t pattern = 0; pattern <= greatest; ++pattern) {
        const auto below = static_cast<std::uint16_t>(pattern), above = static_cast<std::uint16_t>(pattern + 1);
        const double low = from(below);
        const double high = pattern == greatest ? low + (low - from(static_cast<std::uint16_t>(pattern - 1))) : from(above);
        const double middle = (low + high) / 2; // exact: doubles have more than one bit to spare
        const std::uint16_t even = below % 2 == 0 ? below : above;
        ASSERT_EQ(to(middle), even) << std::hex << pattern;
        ASSERT_EQ(to(std::nextafter(middle, 0)), below) << std::hex << pattern;
        ASSERT_EQ(to(std::nextafter(middle, infinity)), above) << std::hex << pattern;
        ASSERT_EQ(to(-middle), even | 0x8000U) << std::hex << pattern;
    }
}

TEST_P(SixteenBits, KeepsWhatIsNoNumberAndFlushesWhatIsTooSmall)
{
    const auto [from, to, greatest] = GetParam();
    EXPECT_EQ(to(1e300), greatest + 1);
    EXPECT_EQ(to(-infinity), (greatest + 1) | 0x8000);
    EXPECT_EQ(to(5e-324), 0);
    EXPECT_EQ(to(-5e-324), 0x8000);
    EXPECT_TRUE(std::isnan(from(to(-std::nan("1")))));
}

INSTANTIATE_TEST_SUITE_P(Both, SixteenBits,
                         testing::Values(Format{from_float16, to_float16, 0x7bff}, Format{from_bfloat16, to_bfloat16, 0x7f7f}));

TEST(ElementType, HasASizeAndAName)
{
    EXPECT_EQ(attn::size_of(ElementType::boolean), 1);
    EXPECT_EQ(attn::size_of(ElementType::float16), 2);
    EXPECT_EQ(attn::size_of(ElementType::bfloat16), 2);
    EXPECT_EQ(attn::size_of(ElementType::float32), 4);
    EXPECT_EQ(attn::size_of(ElementType::float64), 8);
    EXPECT_EQ(attn::size_of(ElementType::uint8), 1);
    EXPECT_EQ(attn::size_of(ElementType::int32), 4);
    EXPECT_EQ(attn::size_of(ElementType::int64), 8);
    EXPECT_EQ(attn::name_of(ElementType::float16), "float16");
    EXPECT_EQ(attn::name_of(ElementType::bfloat16), "bfloat16");
    EXPECT_EQ(attn::name_of(ElementType::float32), "float32");
    EXPECT_EQ(attn::name_of(ElementType::float64), "float64");
    EXPECT_EQ(attn::name_of(ElementType::boolean), "bool");
    EXPECT_EQ(attn::name_of(ElementType::uint8), "uint8");
    EXPECT_EQ(attn::name_of(ElementType::int32), "int32");
    EXPECT_EQ(attn::name_of(ElementType::int64), "int64");
}

std::string hex(ElementType type, std::initializer_list<double> values)
{
    const std::vector<double> given(values);
    std::string text;
    for (const std::byte byte : attn::to_bytes(type, std::span(given))) {
        text += "0123456789abcdef"[std::to_integer<int>(byte) >> 4];
        text += "0123456789abcdef"[std::to_integer<int>(byte) & 15];
    }
    return text;
}

TEST(ToBytes, WritesLittleEndian)
{
    EXPECT_EQ(hex(ElementType::float16, {1.5, -0.0}), "003e0080");
    EXPECT_EQ(hex(ElementType::bfloat16, {1.5, 1.00390625}), "c03f803f"); // the second is halfway, to even
    EXPECT_EQ(hex(ElementType::float32, {1.5}), "0000c03f");
    EXPECT_EQ(hex(ElementType::float64, {1.5}), "000000000000f83f");
    EXPECT_EQ(hex(ElementType::boolean, {0, -0.0, 2, std::nan("")}), "00000101");
    EXPECT_EQ(hex(ElementType::uint8, {2.9, 255, 256, -1, std::nan("")}), "02ffff0000");
    EXPECT_EQ(hex(ElementType::int32, {258, -1.9}), "02010000ffffffff");
    EXPECT_EQ(hex(ElementType::int64, {258, -1.9}), "0201000000000000ffffffffffffffff");
    const std::vector<float> floats{1.5F};
    EXPECT_EQ(attn::to_bytes(ElementType::float64, std::span<const float>(floats)).size(), 8);
}

TEST(ToBytes, RefusesWhatInt64CannotHold)
{
    EXPECT_EQ(hex(ElementType::int64, {-0x1p63}), "0000000000000080");
    EXPECT_EQ(hex(ElementType::int32, {-0x1p31}), "00000080");
    EXPECT_THROW((void)hex(ElementType::int32, {0x1p31}), attn::Error);
    EXPECT_THROW((void)hex(ElementType::int64, {0x1p63}), attn::Error);
    EXPECT_THROW((void)hex(ElementType::int64, {std::nan("")}), attn::Error);
}

} // namespace
