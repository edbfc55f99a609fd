#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

namespace {

using attn::in_quotes;

TEST(Error, NamesTheThingTheValueAndWhatIsAllowed)
{
    const attn::Error error(attn::ErrorKind::usage, "--heads", "'0'", "1 to 1024");
    EXPECT_STREQ(error.what(), "--heads: got '0'; allowed: 1 to 1024");
    EXPECT_EQ(error.kind(), attn::ErrorKind::usage);
}

TEST(Quoted, KeepsPlainTextAndUnicode)
{
    EXPECT_EQ(in_quotes("naïve 人"), "'naïve 人'");
}

TEST(Quoted, EscapesWhatWouldBreakALineOrMoveTheCursor)
{
    EXPECT_EQ(in_quotes("a\nb\t\x1b[31m\x7f"), "'a\\nb\\t\\x1b[31m\\x7f'");
    EXPECT_EQ(in_quotes("\xc2\x9b"), "'\\xc2\\x9b'");
    EXPECT_EQ(in_quotes(std::string_view("\0", 1)), "'\\x00'");
    EXPECT_EQ(in_quotes("a\u2028b\u202e"), "'a\\xe2\\x80\\xa8b\\xe2\\x80\\xae'");
    EXPECT_EQ(in_quotes("\u2066\u2069"), "'\\xe2\\x81\\xa6\\xe2\\x81\\xa9'");
    EXPECT_EQ(in_quotes("\u2027\u202f\u2065\u206a"), "'\u2027\u202f\u2065\u206a'");
}

TEST(Quoted, EscapesBytesThatAreNoUtf8)
{
    EXPECT_EQ(in_quotes("\xff"), "'\\xff'");
    EXPECT_EQ(in_quotes("\xc3"), "'\\xc3'");                            // cut short
    EXPECT_EQ(in_quotes("\xc0\xaf"), "'\\xc0\\xaf'");                   // overlong
    EXPECT_EQ(in_quotes("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");          // surrogate
    EXPECT_EQ(in_quotes("\xf4\x90\x80\x80"), "'\\xf4\\x90\\x80\\x80'"); // beyond U+10FFFF
    EXPECT_EQ(in_quotes("\xf0\x9f\x98\x80"), "'😀'");
}

TEST(Quoted, ShortensWhatIsLong)
{
    EXPECT_EQ(in_quotes(std::string(100, 'x'), 10), "'xxxxxxxxx…'");
}

TEST(Counted, IsOneOfAThingOrManyOfThem)
{
    EXPECT_EQ(attn::counted(0, "row"), "0 rows");
    EXPECT_EQ(attn::counted(1, "row"), "1 row");
    EXPECT_EQ(attn::counted(2, "row"), "2 rows");
}

} // namespace
