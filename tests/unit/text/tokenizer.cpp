#include "attn/text/tokenizer.hpp"

#include "attn/tensor/utf8.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace {

using attn::text::document_words;
using attn::text::plain_words;
using Words = std::vector<std::string>;

/// Python 3.11: [c for c in range(0x110000) if chr(c).isspace()]
constexpr std::array python_spaces{
    "\t",     "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",   "\x1e",   "\x1f",   " ",
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
};

TEST(DocumentWords, SplitsTheTutorialsSentence)
{
    EXPECT_EQ(document_words("Life is short, eat dessert first"), (Words{"Life", "is", "short", "eat", "dessert", "first"}));
}

TEST(DocumentWords, RemovesCommasEvenInsideWords)
{
    EXPECT_EQ(document_words("1,000 a,b , ,, c"), (Words{"1000", "ab", "c"}));
    EXPECT_EQ(document_words("Don't stop! \u201cNow\u201d; x\uff0cy"),
              (Words{"Don't", "stop!", "\u201cNow\u201d;", "x\uff0cy"}));
}

TEST(DocumentWords, KeepsCaseAndOrderAndRepeats)
{
    EXPECT_EQ(document_words("The the THE the"), (Words{"The", "the", "THE", "the"}));
}

TEST(DocumentWords, FindsNoneInNothing)
{
    EXPECT_EQ(document_words(""), Words{});
    EXPECT_EQ(document_words(" ,\t,,\n\u3000"), Words{});
}

TEST(DocumentWords, SplitsAtEverySpaceOfPython)
{
    EXPECT_EQ(python_spaces.size(), 29U);
    for (const char* space : python_spaces) {
        const std::string s = space;
        EXPECT_EQ(document_words(std::string(s).append("a").append(s).append(s).append("b").append(s)), (Words{"a", "b"}))
            << testing::PrintToString(s);
    }
}

TEST(DocumentWords, DoesNotSplitAtWhatPythonCallsNoSpace)
{
    for (const char* glue : {"\u200b", "\u2060", "\ufeff", "\u180e", "\u00ad", "\u200d", "\x1b", "\x7f", "\u2800"}) {
        const std::string word = std::string("a").append(glue).append("b");
        EXPECT_EQ(document_words(word), Words{word}) << testing::PrintToString(word);
    }
}

TEST(PlainWords, KeepsLettersMarksAndDigits)
{
    EXPECT_EQ(plain_words("Don't stop\u2014well-known, 3rd!"), (Words{"Don't", "stop", "well-known", "3rd"}));
    EXPECT_EQ(plain_words("na\u00efve nai\u0308ve \u0928\u092e\u0938\u094d\u0924\u0947 \u4eba\u3002\u0664\u0662"),
              (Words{"na\u00efve", "nai\u0308ve", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u4eba", "\u0664\u0662"}));
    EXPECT_EQ(plain_words("a\u20ddb \u0915\u093e"), (Words{"a\u20ddb", "\u0915\u093e"})); // enclosing and spacing marks
    EXPECT_EQ(plain_words("a_b 3.5 x=y \U0001f600 \u00b2 \u2167 $5"), (Words{"a", "b", "3", "5", "x", "y", "5"}));
}

TEST(PlainWords, KeepsApostrophesAndHyphensOnlyInsideAWord)
{
    EXPECT_EQ(plain_words("rock'n'roll it\u2019s co\u2010op no\u2011break"),
              (Words{"rock'n'roll", "it\u2019s", "co\u2010op", "no\u2011break"}));
    EXPECT_EQ(plain_words("'quoted' -dash- dogs' 'tis"), (Words{"quoted", "dash", "dogs", "tis"}));
    EXPECT_EQ(plain_words("a--b c-'d e'"), (Words{"a", "b", "c", "d", "e"}));
    EXPECT_EQ(plain_words("-'- \u2019"), Words{});
}

/// Random text from an alphabet that is rich in separators.
std::string random_text(std::mt19937& random)
{
    static constexpr std::array pieces{"a",      "B",      "\u00e9", "\u4eba",     ",", ",", " ", " ", "\t", "\u00a0", "\u3000",
                                       "\u0301", "\u2019", "'",      "\U0001f600", "-", ".", "7", "_", "\n", "\u200d"};
    std::string text;
    for (auto length = random() % 30; length > 0; --length) {
        text += pieces[random() % pieces.size()];
    }
    return text;
}

TEST(Tokenizers, HoldTheirInvariantsOnRandomText)
{
    for (unsigned seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        const std::string text = random_text(random);
        for (const auto& tokenize : {document_words, plain_words}) {
            const Words words = tokenize(text);
            std::string joined;
            for (const std::string& word : words) {
                EXPECT_FALSE(word.empty()) << seed;
                EXPECT_EQ(tokenize(word), Words{word}) << seed; // a word stays one word
                EXPECT_EQ(word.find(','), std::string::npos) << seed;
                joined += joined.empty() ? "" : " ";
                joined += word;
            }
            EXPECT_EQ(tokenize(joined), words) << seed;
            EXPECT_EQ(tokenize(std::string(" ").append(text).append(" ")), words) << seed;
        }
    }
}

TEST(Tokenizers, CountAsManyWordsAsTheyMake)
{
    for (unsigned seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        const std::string text = random_text(random);
        EXPECT_EQ(attn::text::count_document_words(text), document_words(text).size()) << seed;
        EXPECT_EQ(attn::text::count_plain_words(text), plain_words(text).size()) << seed;
    }
}

TEST(DocumentWords, LosesNothingButCommasAndSpaces)
{
    for (unsigned seed = 0; seed < 2000; ++seed) {
        std::mt19937 random(seed);
        const std::string text = random_text(random);
        std::string expected;
        for (std::string_view rest = text; !rest.empty();) {
            const std::string point(rest.substr(0, attn::front(rest).bytes));
            rest.remove_prefix(point.size());
            const bool space = std::find(python_spaces.begin(), python_spaces.end(), point) != python_spaces.end();
            expected += point == "," || space ? "" : point;
        }
        std::string joined;
        for (const std::string& word : document_words(text)) {
            joined += word;
        }
        EXPECT_EQ(joined, expected) << seed;
    }
}

} // namespace
