#include "attn/model/layer/words.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/model/recipe/option_names.hpp"

#include <gtest/gtest.h>

namespace {

namespace model = attn::model;
using attn::ErrorKind;
using Names = std::vector<std::string>;
using Indices = std::vector<attn::Index>;

model::Recipe recipe_of(model::Input input, Names query = {})
{
    model::Recipe recipe;
    recipe.input = std::move(input);
    recipe.query = std::move(query);
    return recipe;
}

std::string query_error(const model::Recipe& recipe, ErrorKind kind, const model::Origin& origin = model::options_alone())
{
    return error_of(kind, [&] { (void)model::query_positions(recipe, model::read_words(recipe, origin), origin); });
}

TEST(ReadWords, GivesARepeatedWordOneIdAndManyPositions)
{
    const model::Words words = model::read_words(recipe_of(model::SentenceInput{"b a, b", {}, {}, false}));
    EXPECT_EQ(words.tokens, (Names{"b", "a", "b"}));
    EXPECT_EQ(*words.vocabulary, (Names{"a", "b"}));
    EXPECT_EQ(words.ids, (Indices{1, 0, 1}));
    EXPECT_EQ(words.S(), 3);
}

TEST(ReadWords, FoldsCaseBeforeTheVocabulary)
{
    const model::Words words = model::read_words(recipe_of(model::SentenceInput{"Straße STRASSE", {}, {}, true}));
    EXPECT_EQ(*words.vocabulary, Names{"strasse"});
}

TEST(ReadWords, UsesTheTokenizerThatIsAskedFor)
{
    const model::SentenceInput input{"Well-known: yes!", {}, model::Tokenizer::words, false};
    EXPECT_EQ(model::read_words(recipe_of(input)).tokens, (Names{"Well-known", "yes"}));
}

TEST(ReadWords, MakesOneVocabularyOfTwoSentences)
{
    const model::Words words = model::read_words(recipe_of(model::SentenceInput{"c a", "b a d", {}, false}));
    EXPECT_EQ(words.ids, (Indices{2, 0}));
    EXPECT_EQ(words.key_ids, (Indices{1, 0, 3}));
    EXPECT_EQ(words.T(), 2);
    EXPECT_EQ(words.S(), 3);
}

TEST(ReadWords, NamesIdsAndPositionsByTheirLabelsOrNumbers)
{
    EXPECT_EQ(model::read_words(recipe_of(model::IdsInput{{2, 6}, {"my", "name"}})).tokens, (Names{"my", "name"}));
    EXPECT_EQ(model::read_words(recipe_of(model::IdsInput{{2, 6}, {}})).tokens, (Names{"2", "6"}));
    EXPECT_EQ(model::read_words(recipe_of(model::PositionsInput{2, {}})).tokens, (Names{"0", "1"}));
}

TEST(ReadWords, RefusesInputsWithoutWordsAndLabelsThatDoNotMatch)
{
    EXPECT_NE(
        query_error(recipe_of(model::SentenceInput{",,\n", {}, {}, false}), ErrorKind::data).find("no words in the input"),
        std::string::npos);
    EXPECT_NE(query_error(recipe_of(model::SentenceInput{"a", " ", {}, false}), ErrorKind::data).find("--cross"),
              std::string::npos);
    EXPECT_NE(query_error(recipe_of(model::IdsInput{{}, {}}), ErrorKind::data).find("no words in the input"),
              std::string::npos);
    EXPECT_EQ(query_error(recipe_of(model::IdsInput{{1, 2}, {"a"}}), ErrorKind::data),
              "labels: got 1 labels; allowed: one for each of the 2 ids");
}

TEST(QueryPositions, TakesDigitsAsPositionsAndWordsWhereverTheyStand)
{
    const model::SentenceInput input{"to be or not to be 1", {}, {}, false};
    const auto positions = [&](Names query) {
        const model::Recipe recipe = recipe_of(input, std::move(query));
        return model::query_positions(recipe, model::read_words(recipe));
    };
    EXPECT_EQ(positions({"be", "0", "to"}), (Indices{0, 1, 4, 5}));
    EXPECT_EQ(positions({"1"}), (Indices{1}));
    EXPECT_EQ(positions({}), Indices{});
}

TEST(QueryPositions, FoldsTheQueryWhenTheSentenceIsFolded)
{
    const model::Recipe recipe = recipe_of(model::SentenceInput{"Life is", {}, {}, true}, {"LIFE"});
    EXPECT_EQ(model::query_positions(recipe, model::read_words(recipe)), Indices{0});
}

TEST(QueryPositions, SaysWhichWordsThereAre)
{
    const model::SentenceInput input{"Life is", {}, {}, false};
    EXPECT_EQ(query_error(recipe_of(input, {"life"}), ErrorKind::usage),
              "--query: got the word 'life'; allowed: a word of the input ('Life', 'is') or a position, 0 to 1; did you mean "
              "'Life'?");
    EXPECT_EQ(query_error(recipe_of(input, {"2"}), ErrorKind::usage), "--query: got position '2'; allowed: 0 to 1");
    EXPECT_EQ(query_error(recipe_of(input, {"99999999999999999999"}), ErrorKind::usage),
              "--query: got position '99999999999999999999'; allowed: 0 to 1");
}

TEST(PlacesOf, FindsAWordWithOrWithoutTheSpacesOfATokenizer)
{
    EXPECT_EQ(model::places_of("the", {"the", " cat", " the"}, {}), (Indices{0, 2}));
    EXPECT_EQ(model::places_of(" the", {"the", " cat", " the"}, {}), Indices{2});
}

TEST(PlacesOf, NamesThePiecesOfAWordThatWasCut)
{
    const auto message = [](const std::string& word, const Names& words) {
        return error_of(ErrorKind::usage, [&] { (void)model::places_of(word, words, {.name = "--query"}); });
    };
    const std::string cut =
        "--query: got the word 'Unseen', which the tokenizer cuts into pieces; allowed: one of them, by its position: ";
    EXPECT_EQ(message("Unseen", {"un", "see", "un", "##see", "##n", "##s"}), cut + "2 'un', 3 '##see', 4 '##n'");
    EXPECT_EQ(message("Unseen", {"un", " un", "seen", " it"}), cut + "1 ' un', 2 'seen'");
    for (const Names& whole : {Names{"Un", "seen"}, Names{" un", " seen"}, Names{"un", "##see"}}) {
        EXPECT_NE(message("Unseen", whole).find("a word of the input"), std::string::npos);
    }
}

TEST(QueryPositions, NameTheKeyWhenAFileAskedForThem)
{
    const model::SentenceInput input{"Life is", {}, {}, false};
    const model::Origin file;
    EXPECT_EQ(
        query_error(recipe_of(input, {"life"}), ErrorKind::data, file),
        "query: got the word 'life'; allowed: a word of the input ('Life', 'is') or a position, 0 to 1; did you mean 'Life'?");
    EXPECT_EQ(query_error(recipe_of(input, {"2"}), ErrorKind::data, file), "query: got position '2'; allowed: 0 to 1");
    EXPECT_EQ(query_error(recipe_of(model::SentenceInput{"a", " ", {}, false}), ErrorKind::data, file),
              "no words in the input: the second sentence is ' '; allowed: at least one word");
}

} // namespace
