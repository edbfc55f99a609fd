#include "attn/tensor/utf8.hpp"

#include <gtest/gtest.h>

namespace {

using attn::front;
using attn::steers;

TEST(Front, IsTheCodePointOfASequenceOfAnyLength)
{
    for (const auto& [text, value, bytes] : {std::tuple{"a!", 0x61, 1U},
                                             {"\u00a0!", 0xa0, 2U},
                                             {"\u061c!", 0x61c, 2U},
                                             {"\u2028!", 0x2028, 3U},
                                             {"\uffff!", 0xffff, 3U},
                                             {"\U0010fffd!", 0x10fffd, 4U}}) {
        EXPECT_EQ(front(text).value, value);
        EXPECT_EQ(front(text).bytes, bytes);
        EXPECT_TRUE(front(text).well_formed);
    }
    EXPECT_EQ(front(std::string_view("\0", 1)).value, 0);
}

TEST(Front, TakesOneByteOfWhatIsNotWellFormed)
{
    for (const char* text : {"\xff", "\x80", "\xc3", "\xc3z", "\xc0\xaf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                             "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
        EXPECT_FALSE(front(text).well_formed);
        EXPECT_EQ(front(text).bytes, 1U);
        EXPECT_EQ(front(text).value, 0xfffd);
    }
}

TEST(Steers, AreControlsSeparatorsAndWhatTurnsTheDirection)
{
    for (const auto& [first, last] : {std::pair{0x00, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x202E}, {0x2066, 0x2069}}) {
        EXPECT_TRUE(steers(first) && steers(last));
        EXPECT_FALSE((first > 0 && steers(first - 1)) || steers(last + 1));
    }
}

} // namespace
