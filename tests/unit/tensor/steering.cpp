#include "attn/tensor/steering.hpp"

#include <gtest/gtest.h>

namespace {

using attn::code_point;
using attn::steers;

TEST(CodePoint, IsThatOfASequenceOfAnyLength)
{
    EXPECT_EQ(code_point("a"), U'a');
    EXPECT_EQ(code_point("\u00a0"), U'\u00a0');
    EXPECT_EQ(code_point("\u061c"), U'\u061c');
    EXPECT_EQ(code_point("\u2028"), U'\u2028');
    EXPECT_EQ(code_point("\uffff"), U'\uffff');
    EXPECT_EQ(code_point("\U0010fffd"), U'\U0010fffd');
}

TEST(Steers, AreControlsSeparatorsAndWhatTurnsTheDirection)
{
    for (const auto& [first, last] : {std::pair{0x00U, 0x1FU}, {0x7FU, 0x9FU}, {0x2028U, 0x202EU}, {0x2066U, 0x2069U}}) {
        EXPECT_TRUE(steers(first) && steers(last));
        EXPECT_FALSE((first > 0 && steers(first - 1)) || steers(last + 1));
    }
}

} // namespace
