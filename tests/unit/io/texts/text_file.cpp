#include "attn/io/texts/array_text.hpp"

#include "unit/error_of.hpp"

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

std::string refusal(std::string_view text)
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

TEST(TextFile, RefusesWithThePlace)
{
    EXPECT_EQ(refusal("1 2\n3\n"), "x, line 2: got 1 number; allowed: 2, as in line 1");
    EXPECT_EQ(refusal("1 2\n3 zwei\n"), "x, line 2, column 3: got 'zwei'; allowed: a number");
    EXPECT_EQ(refusal("a = [1]\nb = [2]\na = [3]"), "x: got two arrays with the name 'a'; allowed: one of a name");
    EXPECT_EQ(refusal("w (2,)\n0 1\n1 2 3\n"), "x, line 3: got 3 numbers; allowed: 2, as the title of 'w' says");
    EXPECT_EQ(refusal("w (9, 2)\n   0 1\n0  1 2\n"), "x: 'w': got 1 row; allowed: 9, as its title says");
    EXPECT_NE(refusal("hello").find("got a text that begins with 'hello'; allowed: an array as text"), std::string::npos);
}

} // namespace
