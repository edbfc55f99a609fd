#include "attn/model/run/summary.hpp"

#include "attn/model/run/run.hpp"
#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

namespace {

using WeightedPlaces = std::vector<std::tuple<Index, Index, double>>;
using attn::Index;
using attn::Tensor;
using attn::model::strongest_pairs;
using namespace attn::model;

/// One head over the words a, b, c, …
Result result_of(const Tensor<float>& weights, std::vector<float> entropy)
{
    Result result;
    const auto words = static_cast<std::size_t>(weights.columns());
    for (std::size_t i = 0; i < words; ++i) {
        result.tokens.emplace_back(1, static_cast<char>('a' + i));
    }
    result.front().arrays = {{"weights", weights},
                             {"entropy", Tensor<float>({weights.shape[0], weights.rows()}, std::move(entropy))}};
    return result;
}

Summary summary_of(const Result& result, Index top)
{
    return summarize(result, result.front(), top);
}

std::vector<std::pair<Index, Index>> places(const HeadSummary& head)
{
    std::vector<std::pair<Index, Index>> found;
    for (const Pair& pair : head.pairs) {
        found.emplace_back(pair.query, pair.key);
    }
    return found;
}

using Places = std::vector<std::pair<Index, Index>>;

TEST(Summary, OfThreeWords)
{
    const Result result = result_of(Tensor<float>({1, 3, 3}, {0.5F, 0.25F, 0.25F, //
                                                              0.75F, 0.25F, 0,    //
                                                              0.125F, 0.375F, 0.5F}),
                                    {1, 0.5F, 0.75F});
    const Summary summary = summary_of(result, 3);
    EXPECT_DOUBLE_EQ(summary.largest_entropy, std::log(3.0));
    ASSERT_EQ(summary.heads.size(), 1U);
    const HeadSummary& head = summary.heads[0];
    EXPECT_EQ(head.entropy, 0.75);
    EXPECT_EQ(head.itself, (0.5 + 0.25 + 0.5) / 3);
    EXPECT_EQ(head.first, (0.5 + 0.75 + 0.125) / 3);
    EXPECT_EQ(head.previous, (0.75 + 0.375) / 2); // of the rows that have one
    EXPECT_EQ(head.next, (0.25 + 0) / 2);
    EXPECT_EQ(places(head), (Places{{1, 0}, {0, 0}, {2, 2}})); // of the two 0.5 the one that stands first
    EXPECT_EQ(head.pairs[0].weight, 0.75);
}

TEST(Summary, HasNoNeighboursWhereThereIsOneWord)
{
    const HeadSummary head = summary_of(result_of(Tensor<float>({1, 1, 1}, {1}), {0}), 9).heads[0];
    EXPECT_EQ(head.itself, 1);
    EXPECT_EQ(head.first, 1);
    EXPECT_FALSE(head.previous);
    EXPECT_FALSE(head.next);
    EXPECT_EQ(places(head), (Places{{0, 0}}));
}

TEST(Summary, CountsTheChosenRowsOnly)
{
    Result result = result_of(Tensor<float>({1, 2, 3}, {0.5F, 0.25F, 0.25F, 0.125F, 0.375F, 0.5F}), {1, 2});
    result.query_positions = {0, 2};
    const HeadSummary head = summary_of(result, 2).heads[0];
    EXPECT_EQ(head.entropy, 1.5);
    EXPECT_EQ(head.itself, 0.5);
    EXPECT_EQ(head.previous, 0.375); // of row 2
    EXPECT_EQ(head.next, 0.25);      // of row 0
    EXPECT_EQ(places(head), (Places{{0, 0}, {2, 2}}));
}

TEST(Summary, OfCrossAttentionKnowsTheFirstKeyAlone)
{
    Result result = result_of(Tensor<float>({1, 2, 3}, {0.5F, 0.25F, 0.25F, 0, 0.5F, 0.5F}), {1, 1});
    result.cross = true;
    const HeadSummary head = summary_of(result, 1).heads[0];
    EXPECT_FALSE(head.itself);
    EXPECT_FALSE(head.previous);
    EXPECT_FALSE(head.next);
    EXPECT_EQ(head.first, 0.25);
}

TEST(Summary, CountsTheKeyBehindTheWordsAsNobodysNeighbour)
{
    Result result = result_of(Tensor<float>({1, 2, 3}, {0.25F, 0.25F, 0.5F, 0, 0.25F, 0.75F}), {1, 1});
    result.tokens = {"a", "b"};
    result.key_labels = {"a", "b", "(bias)"};
    const Summary summary = summary_of(result, 1);
    EXPECT_DOUBLE_EQ(summary.largest_entropy, std::log(3.0));
    EXPECT_EQ(summary.heads[0].itself, 0.25);
    EXPECT_EQ(summary.heads[0].next, 0.25);
    EXPECT_EQ(places(summary.heads[0]), (Places{{1, 2}}));
}

TEST(Summary, OfRepeatedWords)
{
    Result result = result_of(Tensor<float>({1, 4, 4}, {1, 0, 0, 0,               //
                                                        0.5F, 0.5F, 0, 0,         //
                                                        0.25F, 0.625F, 0.125F, 0, //
                                                        0, 0.125F, 0.125F, 0.75F}),
                              {0, 0, 0, 0});
    EXPECT_FALSE(summary_of(result, 1).heads[0].same);
    result.tokens = {"a", "b", "a", "a"};
    result.token_ids = {5, 6, 7, 8, 9, 9}; // of six pieces
    const HeadSummary head = summary_of(result, 1).heads[0];
    EXPECT_EQ(head.same, (0 + 0.25 + 0.125) / 3); // of each a the weights of the other two
    EXPECT_EQ(head.induction,
              (0.625 + 0.125) / 2); // of the second a that of b; of the third that of b, for itself does not count
}

TEST(Summary, KnowsWhatEqualWeightsWouldHave)
{
    const auto equal = [](Tensor<float> weights) { return summary_of(result_of(weights, {0, 0, 0}), 1).equal; };
    const HeadSummary all = equal(Tensor<float>({1, 3, 3}, {1, 0, 0, 1, 0, 0, 0.5F, 0.25F, 0.25F}));
    EXPECT_DOUBLE_EQ(all.first, (1 + 0.5 + 1.0 / 3) / 3); // no weight lies beyond its row's own word
    const HeadSummary open = equal(Tensor<float>({1, 3, 3}, {0.5F, 0.5F, 0, 1, 0, 0, 0.5F, 0.25F, 0.25F}));
    EXPECT_DOUBLE_EQ(open.first, 1.0 / 3);
    EXPECT_DOUBLE_EQ(*open.previous, 1.0 / 3);
}

TEST(Summary, HasNoPairsOfNothing)
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const HeadSummary empty = summary_of(result_of(Tensor<float>({1, 2, 2}, {0, 0, 1, 0}), {0, 0}), 4).heads[0];
    EXPECT_EQ(places(empty), (Places{{1, 0}}));
    EXPECT_EQ(empty.itself, 0);
    const HeadSummary strange = summary_of(result_of(Tensor<float>({1, 2, 2}, {nan, nan, 0.5F, 0.5F}), {nan, 1}), 4).heads[0];
    EXPECT_EQ(places(strange), (Places{{1, 0}, {1, 1}}));
    EXPECT_TRUE(std::isnan(strange.first));
    EXPECT_TRUE(std::isnan(strange.entropy));
}

TEST(Summary, FindsThePairsThatSortingFinds)
{
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        const auto T = static_cast<Index>(1 + random() % 9);
        Tensor<float> weights({1, T, T});
        std::vector<Pair> all;
        for (Index i = 0; i < T * T; ++i) {
            const auto weight = static_cast<float>(random() % 8) / 8; // many equal ones
            weights.values[static_cast<std::size_t>(i)] = weight;
            if (weight > 0) {
                all.push_back({i / T, i % T, weight});
            }
        }
        std::stable_sort(all.begin(), all.end(), [](const Pair& a, const Pair& b) { return a.weight > b.weight; });
        const auto top = static_cast<Index>(1 + random() % 20);
        all.resize(std::min(all.size(), static_cast<std::size_t>(top)));
        Places expected;
        for (const Pair& pair : all) {
            expected.emplace_back(pair.query, pair.key);
        }
        const Result result = result_of(weights, std::vector<float>(static_cast<std::size_t>(T)));
        EXPECT_EQ(places(summary_of(result, top).heads[0]), expected) << seed;
    }
}

TEST(Summary, IsMadeByARunThatIsAskedForIt)
{
    Recipe recipe = default_recipe();
    recipe.input = SentenceInput{.sentence = "Life is short", .cross = {}};
    EXPECT_FALSE(run(recipe).front().summary);
    const Result named = run(recipe, {.show = {Item::summary}, .observer = {}});
    ASSERT_TRUE(named.front().summary);
    EXPECT_EQ(named.show, Show{Item::summary});
    EXPECT_EQ(named.front().summary->heads.at(0).pairs.size(), 3U);
    const Result beside = run(recipe, {.show = {}, .top = 5, .observer = {}});
    ASSERT_TRUE(beside.front().summary);
    EXPECT_TRUE(beside.show.contains(Item::context));
    EXPECT_EQ(beside.front().summary->heads.at(0).pairs.size(), 5U);
    EXPECT_EQ(beside.find("weights") != nullptr && beside.find("entropy") != nullptr, true);
}

TEST(Summary, NeedsWeightsAndEntropy)
{
    EXPECT_THROW((void)summary_of(Result{}, 1), attn::Error);
}

template <typename Scalar>
WeightedPlaces weighted_places(const std::vector<Scalar>& values, Index columns, Index top)
{
    WeightedPlaces found;
    for (const auto& [row, column, weight] : strongest_pairs(std::span<const Scalar>(values), columns, top)) {
        found.emplace_back(row, column, weight);
    }
    return found;
}

TEST(Strongest, FirstAndOfEqualOnesThatWhichStandsFirst)
{
    const std::vector<double> values{0.5,  0.25, 0.75, //
                                     0.75, 0,    0.5};
    EXPECT_EQ(weighted_places(values, 3, 3), (WeightedPlaces{{0, 2, 0.75}, {1, 0, 0.75}, {0, 0, 0.5}}));
    EXPECT_EQ(weighted_places(values, 2, 1), (WeightedPlaces{{1, 0, 0.75}})); // three rows of two
}

TEST(Strongest, AreAllThatAreAboveZeroWhereThereAreFewer)
{
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(weighted_places<float>({0, -1, nan, 0.5F}, 2, 9), (WeightedPlaces{{1, 1, 0.5}}));
    EXPECT_EQ(weighted_places<float>({}, 2, 9), WeightedPlaces{});
}

} // namespace
