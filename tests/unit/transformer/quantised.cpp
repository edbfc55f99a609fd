#include "attn/transformer/layers/layers.hpp"

#include "attn/transformer/layers/quantised.hpp"
#include "attn/transformer/layers/weight_matrix.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

namespace {

namespace transformer = attn::transformer;
using attn::Index;
using attn::Matrix;
using Numbers = std::vector<float>;

// float16 numbers as their two bytes.
const std::string one("\x00\x3c", 2), two("\x00\x40", 2), ten("\x00\x49", 2), none("\x00\x00", 2);

/// `count` bytes of one value.
std::string bytes(std::size_t count, int value)
{
    return std::string(count, static_cast<char>(value));
}

Numbers widened(std::string_view name, const std::string& block)
{
    const transformer::BlockFormat* format = transformer::block_format(name);
    EXPECT_NE(format, nullptr) << name;
    EXPECT_EQ(static_cast<std::size_t>(format->bytes), block.size()) << name;
    Numbers numbers(static_cast<std::size_t>(format->numbers));
    format->widen(reinterpret_cast<const std::byte*>(block.data()), numbers.data());
    return numbers;
}

/// `count` numbers from `first` on.
Numbers part(const Numbers& numbers, std::size_t first, std::size_t count)
{
    return {numbers.begin() + static_cast<Index>(first), numbers.begin() + static_cast<Index>(first + count)};
}

TEST(Quantised, Q8IsAScaleTimesSignedBytes)
{
    const Numbers numbers = widened("Q8_0", two + std::string("\x03\xff\x80", 3) + bytes(29, 1));
    EXPECT_EQ(part(numbers, 0, 4), (Numbers{6, -2, -256, 2}));
}

TEST(Quantised, Q4CountsFromEightAndHasTheHighHalvesBehindTheLowOnes)
{
    const Numbers numbers = widened("Q4_0", two + "\xf9" + bytes(15, 0x80));
    EXPECT_EQ(part(numbers, 0, 2), (Numbers{2, -16})); // 9 - 8, 0 - 8
    EXPECT_EQ(part(numbers, 16, 2), (Numbers{14, 0})); // 15 - 8, 8 - 8
}

TEST(Quantised, Q4WithAnOffsetCountsFromThere)
{
    const Numbers numbers = widened("Q4_1", two + ten + "\x21" + bytes(15, 0));
    EXPECT_EQ(part(numbers, 0, 2), (Numbers{12, 10}));
    EXPECT_EQ(part(numbers, 16, 2), (Numbers{14, 10}));
}

TEST(Quantised, Q5HasItsHighestBitsApart)
{
    const std::string highest("\x01\x00\x02\x00", 4); // of numbers 0 and 17
    const Numbers centred = widened("Q5_0", two + highest + "\x31" + bytes(15, 0));
    EXPECT_EQ(part(centred, 0, 2), (Numbers{2, -32}));  // 17 - 16, 0 - 16
    EXPECT_EQ(part(centred, 16, 2), (Numbers{-26, 0})); // 3 - 16, 16 - 16
    const Numbers offset = widened("Q5_1", two + ten + highest + "\x31" + bytes(15, 0));
    EXPECT_EQ(part(offset, 0, 2), (Numbers{44, 10}));
    EXPECT_EQ(part(offset, 16, 2), (Numbers{16, 42}));
}

// Scales 1, 2, 3, 4 of the first four parts, and 5 = 5 + 16·0, 22 = 6 + 16·1, … of the others, whose highest bits are those of
// the first bytes; offsets 1 everywhere.
const std::string scales("\x01\x42\x03\x04\x01\x01\x01\x01\x15\x16\x17\x18", 12);

TEST(Quantised, Q4OfLargeBlocksHasAScaleAndAnOffsetForEachPart)
{
    const Numbers numbers = widened("Q4_K", two + ten + scales + bytes(128, 0x31));
    EXPECT_EQ(numbers[0], 2 * 1 * 1 - 10);
    EXPECT_EQ(numbers[32], 2 * 2 * 3 - 10); // the high halves of the same bytes
    EXPECT_EQ(numbers[64], 2 * 3 * 1 - 10);
    EXPECT_EQ(numbers[128], 2 * 5 * 1 - 10);
    EXPECT_EQ(numbers[160], 2 * (6 + 16) * 3 - 10);
    EXPECT_EQ(numbers[255], 2 * 8 * 3 - 10);
}

TEST(Quantised, Q5OfLargeBlocksHasABitOfEachPartInOneByte)
{
    const std::string highest = "\x81" + bytes(31, 0); // of number 0 in parts 0 and 7
    const Numbers numbers = widened("Q5_K", two + ten + scales + highest + bytes(128, 0x31));
    EXPECT_EQ(numbers[0], 2 * 1 * (1 + 16) - 10);
    EXPECT_EQ(numbers[1], 2 * 1 * 1 - 10);
    EXPECT_EQ(numbers[224], 2 * 8 * (3 + 16) - 10);
    EXPECT_EQ(numbers[225], 2 * 8 * 3 - 10);
}

TEST(Quantised, Q6HasSixteenSignedScales)
{
    const std::string s = std::string("\x01\x02\x03\x04\x05\x06\x07\xff", 8) + bytes(8, 1);
    const std::string highest = "\xe4" + bytes(63, 0); // 0, 1, 2, 3 for numbers 0, 32, 64, 96
    const Numbers numbers = widened("Q6_K", bytes(128, 0x21) + highest + s + two);
    EXPECT_EQ(numbers[0], 2 * 1 * (1 - 32));
    EXPECT_EQ(numbers[16], 2 * 2 * (1 - 32));
    EXPECT_EQ(numbers[32], 2 * 3 * (1 + 16 - 32));
    EXPECT_EQ(numbers[64], 2 * 5 * (2 + 32 - 32)); // the high halves of the first 32 bytes
    EXPECT_EQ(numbers[96], 2 * 7 * (2 + 48 - 32));
    EXPECT_EQ(numbers[112], 2 * -1 * (2 - 32));
    EXPECT_EQ(numbers[128], 2 * 1 * (1 - 32));
}

TEST(Quantised, NoOtherFormatIsKnown)
{
    EXPECT_EQ(transformer::block_format("Q2_K"), nullptr);
    EXPECT_EQ(transformer::block_formats().size(), 8U);
}

/// Two rows of 64 numbers, two blocks each: 1 and 2 in row 0, 3 and 4 in row 1.
class TwoRows {
public:
    TwoRows() : bytes_(block(1) + block(2) + block(3) + block(4)) {}

    [[nodiscard]] transformer::WeightMatrix matrix() const
    {
        return {attn::row_major_view(attn::ElementType::uint8, {2, 68}, std::as_bytes(std::span(bytes_))),
                transformer::block_format("Q8_0")};
    }

private:
    static std::string block(int number) { return one + bytes(32, number); }

    std::string bytes_;
};

TEST(WeightMatrix, HasTheShapeOfItsNumbersAndGivesRows)
{
    const TwoRows two_rows;
    const transformer::WeightMatrix matrix = two_rows.matrix();
    EXPECT_EQ(matrix.shape(), (attn::Shape{2, 64}));
    const attn::RowVector<float> row = transformer::row_of(matrix, 1);
    EXPECT_EQ(row[0], 3);
    EXPECT_EQ(row[63], 4);
    EXPECT_EQ(transformer::all_rows(matrix).sum(), 32 * (1 + 2 + 3 + 4));
}

TEST(Linear, MultipliesRowsOfBlocksAsTheirNumbers)
{
    const TwoRows two_rows;
    const transformer::Linear linear{.weight = two_rows.matrix(), .in = 64, .out = 2};
    const Matrix<float> Y = transformer::apply(linear, Matrix<float>::Ones(3, 64), {});
    EXPECT_EQ(Y, (Matrix<float>(3, 2) << 96, 224, 96, 224, 96, 224).finished());
    transformer::Linear columns = linear;
    columns.input_major = true;
    EXPECT_THROW((void)transformer::apply(columns, Matrix<float>::Ones(3, 64), {}), std::exception);
}

TEST(FusedRows, TurnedOnesPutTheHalvesOfAHeadSideBySide)
{
    const transformer::FusedRows rows{.turned = 4};
    std::vector<Index> found;
    for (Index o = 0; o < 8; ++o) {
        found.push_back(rows.of(o));
    }
    EXPECT_EQ(found, (std::vector<Index>{0, 2, 1, 3, 4, 6, 5, 7}));
}

} // namespace
