#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace {

using namespace attn;
using namespace std::string_view_literals;

constexpr std::array options{"--heads"sv, "--kv-heads"sv, "--seed"sv, "--json"sv, "--d-k"sv, "-o"sv};

TEST(EditDistance, CountsEditsAndSwaps)
{
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("heads", "heads"), 0U);
    EXPECT_EQ(edit_distance("head", "heads"), 1U);
    EXPECT_EQ(edit_distance("heasd", "heads"), 1U); // one swap
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(EditDistance, IsSymmetric)
{
    std::mt19937 random(7);
    const auto word = [&] {
        std::string text(random() % 7, ' ');
        for (char& c : text) {
            c = static_cast<char>('a' + random() % 3);
        }
        return text;
    };
    for (int i = 0; i < 500; ++i) {
        const std::string a = word();
        const std::string b = word();
        EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << " " << b;
        EXPECT_EQ(edit_distance(a, b) == 0, a == b);
    }
}

TEST(DidYouMean, NamesTheNearest)
{
    EXPECT_EQ(did_you_mean("--hedas", options), "; did you mean '--heads'?");
    EXPECT_EQ(did_you_mean("--jsno", options), "; did you mean '--json'?");
    EXPECT_EQ(did_you_mean("heads", options), "; did you mean '--heads'?");
}

TEST(DidYouMean, PrefersTheNearestEvenIfItIsShorter)
{
    constexpr std::array candidates{"--embed-dim"sv, "--embedding-words"sv, "--embeddings"sv};
    EXPECT_EQ(did_you_mean("--embedding-dim", candidates), "; did you mean '--embed-dim'?");
    EXPECT_EQ(did_you_mean("--embedding-word", candidates), "; did you mean '--embedding-words'?");
}

TEST(DidYouMean, CompletesAbbreviations)
{
    EXPECT_EQ(did_you_mean("--se", options), "; did you mean '--seed'?");
}

TEST(DidYouMean, KeepsSilentWhenNothingIsNear)
{
    EXPECT_EQ(did_you_mean("--temperature", options), "");
    EXPECT_EQ(did_you_mean("--", options), "");
    EXPECT_EQ(did_you_mean("", options), "");
    EXPECT_EQ(did_you_mean("-x", options), "");
    EXPECT_EQ(did_you_mean(std::string(100000, 'x'), options), "");
}

TEST(QuotedList, ShowsTheFirstFew)
{
    const std::vector<std::string> names{"a", "b\n", "c"};
    EXPECT_EQ(attn::quoted_list(names), R"('a', 'b\n', 'c')");
    EXPECT_EQ(attn::quoted_list(names, 2), R"('a', 'b\n', …)");
    EXPECT_EQ(attn::quoted_list({}), "");
}

} // namespace
