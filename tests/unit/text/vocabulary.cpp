#include "attn/text/tokenizer.hpp"

#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace {

using attn::text::ids_of;
using attn::text::vocabulary;
using Words = std::vector<std::string>;
using Ids = std::vector<attn::Index>;

TEST(Vocabulary, SortsCapitalsFirst)
{
    const Words words{"Life", "is", "short", "eat", "dessert", "first"};
    EXPECT_EQ(vocabulary(words), (Words{"Life", "dessert", "eat", "first", "is", "short"}));
    EXPECT_EQ(ids_of(words, vocabulary(words)), (Ids{0, 4, 5, 2, 1, 3}));
}

TEST(Vocabulary, GivesARepeatedWordOneId)
{
    const Words words{"the", "cat", "the", "a", "cat"};
    EXPECT_EQ(vocabulary(words), (Words{"a", "cat", "the"}));
    EXPECT_EQ(ids_of(words, vocabulary(words)), (Ids{2, 1, 2, 0, 1}));
}

TEST(Vocabulary, SortsByCodePointNotByUtf16)
{
    // U+FFFD sorts after U+10000 in UTF-16, before it here.
    EXPECT_EQ(vocabulary({"\U00010000", "\ufffd", "\u00e9", "z", "ab", "a"}),
              (Words{"a", "ab", "z", "\u00e9", "\ufffd", "\U00010000"}));
}

TEST(Vocabulary, IsEmptyForNoWords)
{
    EXPECT_EQ(vocabulary({}), Words{});
    EXPECT_EQ(ids_of({}, {}), Ids{});
}

TEST(IdsOf, RefusesAnUnknownWord)
{
    EXPECT_THROW((void)ids_of({"b"}, {"a", "c"}), attn::Error);
    EXPECT_THROW((void)ids_of({"d"}, {"a", "c"}), attn::Error);
}

TEST(IdsOf, LeadBackToTheWords)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        Words words;
        for (auto n = random() % 50; n > 0; --n) {
            words.push_back(std::string(1 + random() % 2, static_cast<char>('a' + random() % 5)));
        }
        const Words known = vocabulary(words);
        EXPECT_TRUE(std::is_sorted(known.begin(), known.end()));
        EXPECT_EQ(std::adjacent_find(known.begin(), known.end()), known.end());
        const Ids ids = ids_of(words, known);
        for (std::size_t i = 0; i < words.size(); ++i) {
            EXPECT_EQ(known.at(static_cast<std::size_t>(ids[i])), words[i]);
        }
    }
}

} // namespace
