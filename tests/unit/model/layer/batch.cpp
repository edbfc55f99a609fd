#include "attn/model/layer/batch.hpp"

#include "attn/model/layer/literal.hpp"
#include "attn/model/layer/words.hpp"
#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using namespace attn::model;
using attn::Error;
using attn::ErrorKind;
using attn::Index;
using attn::Shape;

Recipe positions(Index count, std::optional<Index> batch, std::vector<Step> draws = {})
{
    Recipe recipe;
    recipe.input = PositionsInput{.count = count, .labels = {}, .batch = batch};
    recipe.draws = std::move(draws);
    return recipe;
}

Recipe sentences(std::vector<std::string> batch, std::optional<Index> entry)
{
    Recipe recipe;
    recipe.input = SentenceInput{.sentence = {}, .cross = {}, .batch = std::move(batch)};
    recipe.entry = entry;
    return recipe;
}

/// 0, 1, 2, …
Literal counting_literal(const Shape& shape)
{
    Literal literal{.shape = shape, .values = std::vector<double>(static_cast<std::size_t>(attn::element_count(shape)))};
    std::iota(literal.values.begin(), literal.values.end(), 0);
    return literal;
}

Draw draw_of(const Recipe& recipe, std::size_t step)
{
    return std::get<Draw>(recipe.draws.at(step));
}

TEST(Batch, SizeIsThatOfTheInput)
{
    EXPECT_EQ(batch_size(positions(4, {})), std::nullopt);
    EXPECT_EQ(batch_size(positions(4, 3)), 3);
    EXPECT_EQ(batch_size(sentences({"a b", "c"}, {})), 2);
    EXPECT_EQ(batch_size(sentences({}, {})), std::nullopt);
}

TEST(Batch, OneEntryMustBeChosenAndBeThere)
{
    EXPECT_EQ(entry_of(positions(4, {})), 0);
    EXPECT_EQ(entry_of(sentences({"a b", "c"}, 1)), 1);
    EXPECT_THROW((void)entry_of(sentences({"a b", "c"}, {})), Error);
    EXPECT_THROW((void)entry_of(sentences({"a b", "c"}, 2)), Error);
    EXPECT_THROW((void)entry_of(sentences({}, 0)), Error);
}

TEST(Batch, EmbeddingsAreDrawnWholeAndKeptInPart)
{
    const Draw other{.target = Target::W_q, .init = Initialisation::uniform};
    const Draw plain{.target = Target::embeddings, .init = Initialisation::normal};
    const Recipe one = with_draws_of(2, positions(4, 3, {Seed{1}, plain, other}));
    EXPECT_EQ(draw_of(one, 1).entries, 3);
    EXPECT_EQ(draw_of(one, 1).take, (std::vector<Index>{2}));
    EXPECT_EQ(draw_of(one, 2), other);
    EXPECT_EQ(draw_of(with_draws_of(2, one), 1), draw_of(one, 1));
}

TEST(Batch, AShapeOfTwoLengthsIsShared)
{
    Draw shared{.target = Target::embeddings, .init = Initialisation::normal};
    shared.shape = std::vector<Length>{"T", "D"};
    EXPECT_EQ(draw_of(with_draws_of(1, positions(4, 3, {shared})), 0), shared);
    Draw stated{.target = Target::embeddings};
    stated.values = counting_literal({4, 2});
    EXPECT_EQ(draw_of(with_draws_of(1, positions(4, 3, {stated})), 0), stated);
}

TEST(Batch, AShapeWithAnotherNumberOfEntriesIsRefused)
{
    Draw drawn{.target = Target::embeddings, .init = Initialisation::normal};
    drawn.shape = std::vector<Length>{Index{2}, "T", "D"};
    EXPECT_THROW((void)with_draws_of(0, positions(4, 3, {drawn})), Error);
    Draw stated{.target = Target::embeddings};
    stated.values = counting_literal({2, 4, 2});
    EXPECT_THROW((void)with_draws_of(0, positions(4, 3, {stated})), Error);
}

TEST(Batch, PartOfALiteralKeepsItsNumbersAndItsLargeIntegers)
{
    Literal whole = counting_literal({3, 2, 2});
    whole.integers = {0, 5, 7, 8};
    const Literal part = part_of(whole, 1);
    EXPECT_EQ(part.shape, (Shape{2, 2}));
    EXPECT_EQ(part.values, (std::vector<double>{4, 5, 6, 7}));
    EXPECT_EQ(part.integers, (std::vector<Index>{1, 3}));
}

TEST(Batch, AMaskOfFourDimensionsHasAnEntryEach)
{
    Recipe recipe = positions(2, 3);
    recipe.entry = 1;
    recipe.attention.mask_values = counting_literal({3, 1, 1, 2});
    EXPECT_EQ(stated_mask(recipe)->shape, (Shape{1, 1, 2}));
    recipe.attention.mask_values = counting_literal({2, 2});
    EXPECT_EQ(stated_mask(recipe)->shape, (Shape{2, 2}));
}

TEST(Batch, SentencesShareTheirVocabulary)
{
    const Words first = read_words(sentences({"b a", "c"}, 0));
    const Words second = read_words(sentences({"b a", "c"}, 1));
    EXPECT_EQ(first.vocabulary, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(second.vocabulary, first.vocabulary);
    EXPECT_EQ(second.tokens, std::vector<std::string>{"c"});
    EXPECT_EQ(second.ids, std::vector<Index>{2});
    EXPECT_TRUE(first.ragged && second.ragged);
    EXPECT_FALSE(read_words(sentences({"b a", "c a"}, 0)).ragged);
}

TEST(Batch, IdsFollowOneAnother)
{
    Recipe recipe;
    recipe.input = IdsInput{.ids = {7, 8, 9, 1}, .labels = {"a", "b", "c", "d"}, .batch = 2};
    recipe.entry = 1;
    EXPECT_EQ(read_words(recipe).ids, (std::vector<Index>{9, 1}));
    EXPECT_EQ(read_words(recipe).tokens, (std::vector<std::string>{"c", "d"}));
}

} // namespace
