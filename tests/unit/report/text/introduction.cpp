#include "attn/report/text/introduction.hpp"

#include "attn/model/run/run.hpp"

#include <gtest/gtest.h>

namespace {

using attn::model::Initialisation;
using attn::model::Recipe;
using attn::model::SentenceInput;
using attn::report::introduction;

constexpr const char* sentence = "Life is short, eat dessert first";

Recipe recipe_of(const std::string& text)
{
    Recipe recipe = attn::model::default_recipe();
    recipe.input = SentenceInput{.sentence = text, .cross = {}};
    return recipe;
}

std::string of(const Recipe& recipe, std::optional<attn::Index> width = {})
{
    return introduction(attn::model::run(recipe), width);
}

/// Of a recipe whose files nobody has opened.
std::string of_files(const Recipe& recipe)
{
    attn::model::Result result;
    result.config() = recipe;
    result.tokens = {"to", "be"};
    return introduction(result, {});
}

attn::model::Draw& draw_of(Recipe& recipe, std::size_t place)
{
    return std::get<attn::model::Draw>(recipe.draws.at(place));
}

TEST(Introduction, SaysThatTheTutorialsNumbersHaveNoMeaning)
{
    EXPECT_EQ(of(recipe_of(sentence)),
              "6 words, 1 head, random matrices of Raschka's 2023 article (seed 123), which mean nothing");
    const std::string on_80_columns = of(recipe_of(sentence), 80);
    EXPECT_EQ(on_80_columns, "6 words, 1 head, random matrices (seed 123), which mean nothing");
}

TEST(Introduction, TakesNothingElseForTheTutorial)
{
    Recipe recipe = recipe_of(sentence);
    recipe.attention.causal = true;
    EXPECT_EQ(of(recipe), "6 words, 1 head, random matrices (seed 123), which mean nothing");
    recipe = recipe_of("Life");
    recipe.draws.front() = attn::model::Seed{7};
    recipe.dims.heads = 2;
    EXPECT_EQ(of(recipe), "1 word, 2 heads, random matrices (seed 7), which mean nothing");
    std::get<SentenceInput>(recipe.input).cross = "to be";
    recipe.generator = attn::model::Generator::numpy;
    EXPECT_EQ(of(recipe), "1 word attending to 2 words, 2 heads, random matrices (seed 7 of NumPy), which mean nothing");
}

TEST(Introduction, SaysWhatIsNotRandom)
{
    Recipe recipe = recipe_of("to be");
    for (std::size_t i = 2; i < 5; ++i) {
        draw_of(recipe, i).init = Initialisation::identity;
    }
    EXPECT_EQ(of_files(recipe), "2 words, identity projections, random embeddings (seed 123), which mean nothing");
    recipe.draws.erase(recipe.draws.begin() + 1);
    recipe.embeddings = attn::model::FileEmbeddings{.file = "glove.txt"};
    EXPECT_EQ(of_files(recipe), "2 words, word vectors from glove.txt, identity projections");
    recipe.draws.emplace_back(attn::model::Draw{.target = attn::model::Target::b_q, .init = Initialisation::zeros});
    EXPECT_EQ(of_files(recipe), "2 words, word vectors from glove.txt, identity projections");
    recipe.draws.resize(1);
    recipe.embeddings.reset();
    recipe.parameters = attn::model::FileParameters{.file = "gpt2\n.npz", .prefix = "h.0"};
    EXPECT_EQ(of_files(recipe), "2 words, weights from gpt2\\n.npz, layer h.0");
    recipe.draws.push_back(attn::model::default_recipe().draws.at(1));
    EXPECT_EQ(of_files(recipe), "2 words, weights from gpt2\\n.npz, layer h.0, random embeddings (seed 123)");
}

TEST(Introduction, NamesTheRecipe)
{
    Recipe recipe = recipe_of(sentence);
    recipe.name = "raschka-2023";
    recipe.title = "Understanding";
    EXPECT_EQ(of_files(recipe), "2 words, recipe raschka-2023: Understanding");
    EXPECT_EQ(of(recipe, 59), "6 words, 1 head, recipe raschka-2023: Understanding");
    EXPECT_EQ(of(recipe, 40), "6 words, 1 head, recipe raschka-2023");
}

} // namespace
