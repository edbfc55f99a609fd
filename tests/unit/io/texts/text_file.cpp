#include "attn/io/texts/array_text.hpp"

#include "unit/error_of.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace {

using attn::Shape;
using attn::io::ArrayText;
using Words = std::vector<std::string>;

std::vector<ArrayText> arrays(std::string_view text)
{
    return attn::io::read_text_arrays(text, "x");
}

std::vector<double> values(std::string_view text, const ArrayText& array)
{
    std::vector<double> all;
    const attn::math::PrintedNumbers printed(text, array.numbers);
    for (std::size_t i = 0; i < printed.size(); ++i) {
        all.push_back(printed[i].value);
    }
    return all;
}

std::string text_refusal(std::string_view text)
{
    return error_of([&] { (void)arrays(text); });
}

TEST(TextFile, TellsTheFormsByWhatTheyHold)
{
    for (const std::string_view text :
         {"1 2\n3 4\n", "# a comment\n1,2\n3,4", "a;b\n1;2\n3;4;\n", ",a,b\nx,1,2\ny,3,4\n", "[[1, 2], [3, 4]]",
          "[1, 2]\n[3, 4]\n", "Q =\ntf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)", "{'a': [(1, 2), (3, 4)]}",
          "x (2, 2)\n   0  1\n0  1  2\n1  3  4\n",
          "array,head,row,column,query_token,key_token,value\na,,0,0,,,1\na,,0,1,,,2\na,,1,0,,,3\na,,1,1,,,4\n"}) {
        const std::vector<ArrayText> read = arrays(text);
        ASSERT_EQ(read.size(), 1) << text;
        EXPECT_EQ(read[0].shape, (Shape{2, 2})) << text;
        EXPECT_EQ(values(text, read[0]), (std::vector<double>{1, 2, 3, 4})) << text;
    }
}

TEST(TextFile, SaysOfWholeNumbersAndTruthsThatTheyAre)
{
    EXPECT_TRUE(arrays("1 2\n")[0].whole);
    EXPECT_FALSE(arrays("1 2.\n")[0].whole);
    EXPECT_FALSE(arrays("1 99999999999999999999\n")[0].whole);
    EXPECT_TRUE(arrays("[True, False]")[0].truths);
    EXPECT_FALSE(arrays("[True, 0]")[0].truths);
}

TEST(TextFile, KeepsTheWordsOfRowsAndColumns)
{
    const ArrayText table =
        arrays("3 words\n\nweights (2, 2)\n       New York  is    sum\nNew York  0.5 0.25 0.75\nis  masked  1.0 1.0\n")[0];
    EXPECT_EQ(table.name, "weights");
    EXPECT_EQ(table.shape, (Shape{1, 2, 2}));
    EXPECT_TRUE(table.columns.empty()); // three words stand above two columns
    const ArrayText last =
        arrays("weights (2, 2)\n          New York  sum\nNew York       0.5  0.5\nsum           0.25 0.75\n")[0];
    EXPECT_EQ(last.shape, (Shape{1, 2, 2}));
    EXPECT_EQ(last.rows, (Words{"New York", "sum"}));
    const ArrayText csv = arrays("word,\"a \"\"b\"\"\",c\nx,1,2\ny,3,4\n")[0];
    EXPECT_EQ(csv.rows, (Words{"x", "y"}));
    EXPECT_EQ(csv.columns, (Words{"a \"b\"", "c"}));
}

TEST(TextFile, RoundsEachRowOfATableByItself)
{
    constexpr std::string_view text =
        "weights (2, 2)\n        a           b\na  0.9990      0.0010\nb  1.0000e+00  1.2340e-05\n";
    const ArrayText table = arrays(text)[0];
    ASSERT_EQ(table.numbers.digits.size(), 2);
    const attn::math::PrintedNumbers printed(text, table.numbers);
    EXPECT_EQ(printed[0].digits.fixed, 4);
    EXPECT_EQ(printed[3].digits.scientific, 4);
    EXPECT_FALSE(printed[3].digits.fixed.has_value());
}

TEST(TextFile, OfAStreamLooksNoFurtherThanItMust)
{
    EXPECT_TRUE(attn::io::may_begin_text("0.5 0.25 0.25 0"));
    EXPECT_TRUE(attn::io::may_begin_text("word,a,b\n"));
    EXPECT_FALSE(attn::io::may_begin_text(std::string_view("1 \0 2", 5)));
    EXPECT_FALSE(attn::io::may_begin_text("\x7F"
                                          "ELF1"));
    std::string endless;
    for (int i = 0; i < 100; ++i) {
        endless += "y\n";
    }
    EXPECT_FALSE(attn::io::may_begin_text(endless));
}

TEST(TextFile, TakesTheFirstLineForWordsWhereNoneBeginsAsANumber)
{
    for (const std::string_view text :
         {"1,2\n3,4\n", "a,b\n1,2\n3,4\n", ",0,1\n0,1,2\n1,3,4\n", ",a,2nd\n2024-01-01,1,2\n50%,3,4\n", "x,a,b\nx,1,2\ny,3,4\n",
          "x,1,2\ny,3,4\n", "\"\",\"a\",\"b\"\n\"1\",1,2\n\"2\",3,4\n", "\"a\" \"b\"\n\"1\" 1 2\n\"2\" 3 4\n",
          "my matrix\n1 2\n3 4\n"}) {
        const ArrayText read = arrays(text)[0];
        EXPECT_EQ(read.shape, (Shape{2, 2})) << text;
        EXPECT_EQ(values(text, read), (std::vector<double>{1, 2, 3, 4})) << text;
    }
    EXPECT_EQ(arrays("\"1\" 0.5\n\"2\" 0.25\n")[0].rows, (Words{"1", "2"}));
    for (const std::string_view number :
         {"1e400", "0x10", "1_0", "50%", ".5", "$5", "1+2j", "(1+2j)", "+-1", "\u22121", "1st"}) {
        for (const std::string_view rest : {"", ",1", ",a"}) {
            const std::string text = fmt::format("{}{}\n2{}\n", number, rest, rest);
            EXPECT_NE(text_refusal(text).find(fmt::format("x, line 1, column 1: got '{}'; allowed: a ", number)),
                      std::string::npos)
                << text << text_refusal(text);
        }
    }
}

TEST(TextFile, EndsALineAsAnySystemDoes)
{
    for (const std::string_view end : {"\n", "\r\n", "\r", "\r\r\n"}) {
        const std::string text = fmt::format("a b{0}1 2{0}{0}3 4{0}", end);
        EXPECT_EQ(arrays(text)[0].shape, (Shape{2, 2})) << text;
        EXPECT_EQ(text_refusal(fmt::format("1 2{0}{0}3 x{0}", end)), "x, line 3, column 3: got 'x'; allowed: a number");
        EXPECT_EQ(text_refusal(fmt::format("a (1,){0}[1]{0}b (2,){0}  0{0}x 1{0}", end)),
                  "x, line 5, column 1: got 'x'; allowed: a number");
    }
}

TEST(TextFile, RefusesWithThePlace)
{
    EXPECT_EQ(text_refusal("1 2\n3\n"), "x, line 2: got 1 number; allowed: 2, as in line 1");
    EXPECT_EQ(text_refusal("1 2\n3 zwei\n"), "x, line 2, column 3: got 'zwei'; allowed: a number");
    EXPECT_EQ(text_refusal("a = [1]\nb = [2]\na = [3]"), "x: got two arrays with the name 'a'; allowed: one of a name");
    EXPECT_EQ(text_refusal("w (2,)\n0 1\n1 2 3\n"), "x, line 3: got 3 numbers; allowed: 2, as the title of 'w' says");
    EXPECT_EQ(text_refusal("w (9, 2)\n   0 1\n0  1 2\n"), "x: 'w': got 1 row; allowed: 9, as its title says");
    for (const std::string_view name : {"W_q", "weights"}) { // a head is none of an array without heads
        EXPECT_EQ(text_refusal(fmt::format("{0} (1, 1)\n   0\n0  1\n\n{0}, head 1 (1, 1)\n   0\n0  2\n", name)),
                  fmt::format("x: got two arrays with the name '{}'; allowed: one of a name", name));
    }
    EXPECT_NE(text_refusal("hello").find("got a text that begins with 'hello'; allowed: an array as text"), std::string::npos);
}

} // namespace
