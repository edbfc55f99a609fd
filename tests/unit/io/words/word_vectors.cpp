#include "attn/io/words/word_vectors.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using attn::Index;
using attn::io::as_bytes;
using attn::io::open_vector_text;
using attn::model::FoundVectors;

using Words = std::vector<std::string>;

std::vector<double> row(const FoundVectors& found, std::size_t word)
{
    const auto dim = static_cast<std::size_t>(found.rows.shape[1]);
    const auto begin = found.rows.values.begin() + static_cast<std::ptrdiff_t>(word * dim);
    return {begin, begin + static_cast<std::ptrdiff_t>(dim)};
}

bool same(const FoundVectors& a, const FoundVectors& b)
{
    return a.found == b.found && a.rows.shape == b.rows.shape && a.rows.values == b.rows.values &&
           a.other_count == b.other_count;
}

/// By walking and by the index, which must agree.
FoundVectors find(std::string_view file, const Words& words, bool allow_nonfinite = false)
{
    const auto text = open_vector_text(as_bytes(file), "file");
    const attn::io::VectorSearch search{.allow_nonfinite = allow_nonfinite};
    FoundVectors found = attn::io::find_vectors(text, {words}, search);
    if (!allow_nonfinite) { // NaN equals nothing
        EXPECT_TRUE(same(attn::io::VectorIndex(text, search).find({words}, false), found));
    }
    return found;
}

/// What both ways of searching say.
void expect_vectors_refused(std::string_view file, const std::string& part, const Words& words = {"a", "b", "c"})
{
    const std::string walk = error_of([&] { (void)attn::io::find_vectors(open_vector_text(as_bytes(file), "file"), {words}); });
    EXPECT_NE(walk.find(part), std::string::npos) << walk;
    const std::string index = error_of([&] {
        const auto text = open_vector_text(as_bytes(file), "file");
        (void)attn::io::VectorIndex(text, {}).find({words}, false);
    });
    EXPECT_EQ(index, walk);
}

// ---- formats ---------------------------------------------------------------------------------------------------------

TEST(WordVectors, OfGloveHaveNoHeader)
{
    const FoundVectors found = find("the 0.5 -1.25\ncat 3 4e-2\n", {"cat", "the"});
    EXPECT_EQ(found.rows.shape, (attn::Shape{2, 2}));
    EXPECT_EQ(found.rows.values, (std::vector<double>{3, 0.04, 0.5, -1.25}));
    EXPECT_EQ(found.found, (std::vector<bool>{true, true}));
}

TEST(WordVectors, OfWord2vecAndFastTextBeginWithCountAndDimAndMayEndLinesWithASpace)
{
    const FoundVectors found = find("3 2\n</s> 0 0 \nthe 0.5 -1.25 \ncat 3 4 \n", {"cat", "2", "3"});
    EXPECT_EQ(found.found, (std::vector<bool>{true, false, false}));
    EXPECT_EQ(row(found, 0), (std::vector<double>{3, 4}));
    EXPECT_EQ(row(found, 1), (std::vector<double>{0, 0}));
    EXPECT_EQ(open_vector_text(as_bytes("3 2\nthe 1 2\n"), "").count, 3);
}

TEST(WordVectors, NeedNoNewlineAtTheEndAndMayEndLinesAsWindowsDoes)
{
    EXPECT_EQ(row(find("a 1 2\nb 3 4", {"b"}), 0), (std::vector<double>{3, 4}));
    EXPECT_EQ(row(find("a 1 2\r\nb 3 4 \r\n", {"b"}), 0), (std::vector<double>{3, 4}));
    EXPECT_EQ(row(find("2 2\r\na 1 2\r\nb 3 4\r", {"b"}), 0), (std::vector<double>{3, 4}));
}

TEST(WordVectors, SplitFromTheRightSoThatWordsMayHoldSpaces)
{
    const std::string file = ". . . 1 2\nat name 3 4\nat 5 6\nNew\u00A0York 7 8\n";
    const FoundVectors found = find("a 0 0\nb 0 0\nc 0 0\n" + file, {". . .", "at", "at name", "New\u00A0York", "."});
    EXPECT_EQ(found.rows.values, (std::vector<double>{1, 2, 5, 6, 3, 4, 7, 8, 0, 0}));
    EXPECT_FALSE(found.found[4]);
}

TEST(WordVectors, TellAWordWhoseLineHasTooManyNumbers)
{
    const std::string file = "a 1 2\nb 1 2\n. . . 1 2\nLife 1 2 3\n";
    const std::string_view count =
        "file, line 4: got a word and 3 numbers; allowed: a word and 2 numbers, as most of the first lines have";
    EXPECT_EQ(find(file, {"Life", "a"}).other_count, count);
    EXPECT_EQ(find(file, {"Life", "."}).other_count, count) << ". . . is a word of its own";
    EXPECT_EQ(find(file, {".", "a"}).other_count, "");
    EXPECT_EQ(find(file + "Life 4 5\n", {"Life"}).other_count, "") << "there is another line";
}

TEST(WordVectors, OfOneNumberAreNoHeaderUnlessTheWordIsAWholeNumberToo)
{
    EXPECT_EQ(row(find("12 5.0\nb 6\n", {"12"}), 0), std::vector<double>{5});
    EXPECT_EQ(row(find("1 1\n12 5\n", {"12"}), 0), std::vector<double>{5});
}

TEST(WordVectors, HaveTheDimensionThatMostOfTheFirstLinesHave)
{
    EXPECT_EQ(open_vector_text(as_bytes("x y 1 2 3\na 1 2 3\nb 1 2 3\n"), "").dim, 3);
    EXPECT_EQ(open_vector_text(as_bytes("a 1 2 3\n"), "").dim, 3);
    expect_vectors_refused("a 1 2 3\nb 1 2\n", "line 2: got a word and 2 numbers; allowed: a word and 3 numbers");
}

TEST(WordVectors, AreReadToTheNearestFloat64InAnyLocale)
{
    EXPECT_EQ(find("a 0.1 1e-320 -0 123456789012345678\n", {"a"}).rows.values,
              (std::vector<double>{0.1, 1e-320, -0.0, 123456789012345678.0}));
}

/// As Python's float() and NumPy do; 2.4703282292062328e-324 lies just above the middle between 0 and the least subnormal.
TEST(WordVectors, NearerToZeroThanFloat64GoesAreZero)
{
    constexpr double least = std::numeric_limits<double>::denorm_min();
    const std::string zeros(400, '0');
    const auto values = find("a 1e-400 -1e-400 2.4703282292062328e-324 2.4703282292062327e-324 0." + zeros + "1 1" + zeros +
                                 "e-999 .5e-99999999999999999999 1" + zeros + "e-400 -0e99999999999999999999\n",
                             {"a"})
                            .rows.values;
    EXPECT_EQ(values, (std::vector<double>{0, 0, least, 0, 0, 0, 0, 1, 0}));
    EXPECT_TRUE(std::signbit(values[1]));
}

TEST(WordVectors, BeyondFloat64AreRefusedAsSuch)
{
    const std::string zeros(400, '0');
    for (const std::string& number :
         {std::string("1e400"), std::string("-1e+400"), "1" + zeros, "1" + zeros + zeros + "e-400", "0." + zeros + "1e999",
          std::string("5.e99999999999999999999"), std::string("1.7976931348623159e308")}) {
        expect_vectors_refused("x 1 2\na 1 " + number + "\n", ", which is beyond float64; allowed: numbers up to 1.797e308");
        EXPECT_EQ(find("a 1 2\nx 1 " + number + "\n", {"a"}).rows.values, (std::vector<double>{1, 2}));
        EXPECT_EQ(find("x 1 " + number + "\na 1 2\n", {"a"}).rows.values, (std::vector<double>{1, 2}));
    }
}

TEST(WordVectors, MayBeginWithAByteOrderMark)
{
    for (const std::string header : {"", "2 2\n"}) {
        const FoundVectors found = find("\uFEFF" + header + "a 1 2\nb 3 4\n", {"a", "b"});
        EXPECT_EQ(found.rows.values, (std::vector<double>{1, 2, 3, 4}));
    }
    EXPECT_TRUE(find("a 1 2\n\uFEFFb 3 4\n", {"\uFEFFb"}).found[0]);
    expect_vectors_refused("\uFEFF", "file: got an empty file");
}

TEST(WordVectors, OfUnwantedWordsAreNotRead)
{
    EXPECT_EQ(row(find("a 1 2\nx nan inf\ny z z\nx 5 5\nb 3 4\n", {"b"}), 0), (std::vector<double>{3, 4}));
}

TEST(WordVectors, OfNoticedWordsAreNotReadEither)
{
    const std::string file = "a 1 2\nUNK nan 1\nunk 1 2\nunk 3 4\n[UNK] 1 2 3\n";
    const Words words{"a", "z"};
    const Words noticed{"<unk>", "unk", "UNK", "[UNK]", "a"};
    const auto text = open_vector_text(as_bytes(file), "file");
    const FoundVectors found = attn::io::find_vectors(text, {words, noticed});
    EXPECT_EQ(found.found, (std::vector<bool>{true, false}));
    EXPECT_EQ(found.rows.values, (std::vector<double>{1, 2, 0, 0}));
    EXPECT_EQ(found.noticed, (std::vector<bool>{false, true, true, false, true}));
    EXPECT_EQ(attn::io::VectorIndex(text, {}).find({words, noticed}, false).noticed, found.noticed);
}

TEST(WordVectors, MayBeInfiniteWhereThatIsAllowed)
{
    const FoundVectors found = find("a 1 2\nb inf nan\n", {"b"}, true);
    EXPECT_EQ(found.rows.values[0], std::numeric_limits<double>::infinity());
    EXPECT_NE(found.rows.values[1], found.rows.values[1]);
}

TEST(WordVectors, OfALongFileAreFoundAndTheWalkTellsWhereItIs)
{
    std::string file;
    for (int i = 0; i < 300'000; ++i) {
        const std::string number = std::to_string(i);
        file.append("w").append(number).append(" ").append(number).append(" 0.123456789012345678901234567890\n");
    }
    const auto text = open_vector_text(as_bytes(file), "file");
    std::vector<std::size_t> passed;
    const Words words{"w299999", "w0", "w123456", "none"};
    const auto found = attn::io::find_vectors(text, {words}, {.passed = [&](std::size_t at) { passed.push_back(at); }});
    EXPECT_EQ(found.found, (std::vector<bool>{true, true, true, false}));
    EXPECT_EQ(row(found, 0)[0], 299'999);
    EXPECT_EQ(row(found, 2)[0], 123'456);
    ASSERT_GE(passed.size(), 2U);
    for (std::size_t i = 1; i < passed.size(); ++i) {
        EXPECT_GE(passed[i] - passed[i - 1], std::size_t{4} << 20U);
    }
    EXPECT_TRUE(same(attn::io::VectorIndex(text, {}).find({words}, false), found));
}

/// Every length around the blocks in which spaces are counted.
TEST(WordVectors, OfEveryLengthOfLineAreCounted)
{
    for (Index dim = 1; dim <= 600; ++dim) {
        std::string line = "w";
        std::vector<double> numbers;
        for (Index i = 0; i < dim; ++i) {
            line += " " + std::to_string(i % 7);
            numbers.push_back(static_cast<double>(i % 7));
        }
        const std::string file = std::string("a").append(line).append("\n").append(line);
        EXPECT_EQ(find(file, {"w"}).rows.values, numbers);
        const std::string cut = file.substr(0, file.size() - 2);
        expect_vectors_refused(cut, "line 2: got a word and " + attn::counted(dim - 1, "number"));
    }
}

TEST(WordVectors, OfAHugeDimensionNeedNotMoreThanTheirLine)
{
    std::string file = "w";
    for (Index i = 0; i < attn::model::largest_vector; ++i) {
        file += " 1";
    }
    EXPECT_EQ(find(file, {"w"}).rows.shape[1], attn::model::largest_vector);
    expect_vectors_refused(file + " 1", "got 1048577 numbers per word; allowed: 1 to 1048576");
}

// ---- what is refused -------------------------------------------------------------------------------------------------

TEST(WordVectors, AreRefusedByLine)
{
    expect_vectors_refused("a 1 2\nx 1\nb 3 4\n", "file, line 2: got a word and 1 number; allowed: a word and 2 numbers");
    expect_vectors_refused("x 1 2\n\na 1 2\n", "file, line 2: got nothing");
    expect_vectors_refused("x 1 2\na 1 2\nb 1 2\na 1 2\n", "file, line 4: the word 'a' is also in line 2");
    expect_vectors_refused("x 1 2\na 1 nan\n", "file, line 2, number 2: got 'nan'; allowed: finite numbers");
    expect_vectors_refused("x 1 2\na -inf 1\n", "file, line 2, number 1: got '-inf'");
    expect_vectors_refused("x 1 2\na 1e999 1\n",
                           "file, line 2, number 1: got '1e999', which is beyond float64; allowed: numbers up to 1.797e308");
    expect_vectors_refused("x 1 2\na 1 0x1p3\n", "file, line 2, number 2: got '0x1p3'");
    expect_vectors_refused("x 1 2\na 1 1,5\n", "file, line 2, number 2: got '1,5'");
    expect_vectors_refused("x 1 2\nz\xff 1 2\n", "file, line 2, byte 1: got '\\xff'; allowed: words in UTF-8");
    expect_vectors_refused("x 1 2\n\xed\xa0\x80 1 2\n", "file, line 2, byte 0");
    expect_vectors_refused("2 2\na 1 2\nb 1\n",
                           "line 3: got a word and 1 number; allowed: a word and 2 numbers, as the header says");
}

TEST(WordVectors, WithoutWordsOrNumbersAreRefused)
{
    expect_vectors_refused("", "file: got an empty file; allowed: word vectors as text");
    expect_vectors_refused("\n", "line 1");
    expect_vectors_refused("word\nlist\n", "line 1: got 0 numbers per word; allowed: 1 to 1048576");
    expect_vectors_refused("Life is short\n", "line 1, number 1: got 'is'; allowed: a decimal number");
    expect_vectors_refused("0 5\n", "got no words");
    expect_vectors_refused("2 2\na 1 2\n", "got 1 word; allowed: 2, as its first line says");
    expect_vectors_refused("3 5\n", "got 0 words; allowed: 3, as its first line says");
}

TEST(WordVectors, WithAnotherCountThanTheHeaderAreRefused)
{
    expect_vectors_refused("3 2\na 1 2\nb 1 2\n", "file: got 2 words; allowed: 3, as its first line says");
    expect_vectors_refused("1 2\na 1 2\nb 1 2\n", "file: got 2 words; allowed: 1");
    expect_vectors_refused("99999999999999999999999 1\na 1\n", "allowed: 9223372036854775807");
    expect_vectors_refused("2 99999999999999999999999\na 1\n", "line 1: got 9223372036854775807 numbers per word");
    expect_vectors_refused("2 0\na\n", "line 1: got 0 numbers per word");
}

TEST(WordVectors, ThatAreNoTextAreRefused)
{
    expect_vectors_refused(std::string("a 1 2\nb \0 2\n", 12), "got a binary file (a NUL at byte 8)");
    expect_vectors_refused("\x1f\x8b 1 2\n", "got a compressed file");
    expect_vectors_refused("2 2\n\x80\x80\x80\x3f 1 2\nb 1 2\n", "line 2, byte 0: got '\\x80'");
    std::string endless;
    endless.resize(70'000'000, 'a');
    expect_vectors_refused(endless, "line 1: got more than 67108864 bytes");
}

// ---- lists of words --------------------------------------------------------------------------------------------------

TEST(WordList, GivesEachWordItsRow)
{
    const attn::io::WordList list(as_bytes("zebra\n[PAD]\nNew York\r\nä"), "list", 4);
    EXPECT_EQ(list.size(), 4);
    EXPECT_EQ(list.row_of("zebra"), 0);
    EXPECT_EQ(list.row_of("New York"), 2);
    EXPECT_EQ(list.row_of("ä"), 3);
    EXPECT_EQ(list.row_of("none"), std::nullopt);
    EXPECT_EQ(attn::io::WordList(as_bytes("\uFEFFzebra\n"), "list", 1).row_of("zebra"), 0);
}

TEST(WordList, RefusesWhatIsNone)
{
    const auto message = [](std::string_view file) {
        return error_of([&] { attn::io::WordList list(as_bytes(file), "list", 100); });
    };
    EXPECT_EQ(message("a\nb\nc\na\n"), "list, line 4: the word 'a' is also in line 1; allowed: once");
    EXPECT_EQ(message("a\n\nb\n"), "list, line 2: got nothing; allowed: one word per line");
    EXPECT_TRUE(message("a\nb\xC3\n").starts_with("list, line 2, byte 1: got '\\xc3'")) << message("a\nb\xC3\n");
    EXPECT_EQ(message(""), "list: got an empty file; allowed: words as text, one a line");
}

} // namespace
