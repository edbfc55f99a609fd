#include "attn/model/layer/word_vectors.hpp"

#include "attn/model/layer/embedding_tensor.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/model/recipe/option_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace {

using namespace attn::model;
using attn::Index;
using attn::Tensor;

/// Words of the letters a to h have a vector, (number of the letter, its square).
WordVectors letters()
{
    const auto find = [](const WantedWords& wanted) {
        const std::span<const std::string> words = wanted.words;
        FoundVectors found{.rows = Tensor<double>({static_cast<Index>(words.size()), 2}), .found = {}};
        for (std::size_t i = 0; i < words.size(); ++i) {
            const int number = words[i][0] - 'a';
            found.found.push_back(words[i].size() == 1 && number >= 0 && number < 8);
            found.rows.values[2 * i] = found.found[i] ? number : 0;
            found.rows.values[2 * i + 1] = found.found[i] ? number * number : 0;
        }
        return found;
    };
    return VectorsOfWords{.name = "letters", .dim = 2, .find = find};
}

Recipe recipe_with_letters(const std::string& sentence, std::optional<std::string> unknown = {})
{
    Overrides overrides;
    overrides.set(field::sentence, sentence);
    overrides.set(field::embeddings_file, "letters");
    if (unknown) {
        overrides.set(field::unknown, std::move(*unknown));
    }
    Recipe recipe = apply(default_recipe(), overrides);
    recipe.dims.embed_dim = 2;
    return recipe;
}

EmbeddingTable table(const Recipe& recipe)
{
    return embedding_table(recipe, read_words(recipe), letters());
}

std::vector<double> numbers_of(const EmbeddingTable& table)
{
    return attn::load<double>(table.rows.view).values;
}

std::string table_error(const Recipe& recipe)
{
    return error_of([&] { (void)table(recipe); });
}

TEST(EmbeddingTable, HasARowForEachWordOfTheVocabulary)
{
    const EmbeddingTable found = table(recipe_with_letters("d b d c"));
    EXPECT_EQ(found.rows.view.shape, (attn::Shape{3, 2}));
    EXPECT_EQ(numbers_of(found), (std::vector<double>{1, 1, 2, 4, 3, 9}));
    EXPECT_EQ(found.warning, "");
}

TEST(EmbeddingTable, GivesUnknownWordsTheVectorOfOneAndSaysSo)
{
    const EmbeddingTable found = table(recipe_with_letters("d zz b yy", "g"));
    EXPECT_EQ(numbers_of(found), (std::vector<double>{1, 1, 3, 9, 6, 36, 6, 36}));
    EXPECT_EQ(found.warning, "embeddings: no vector for 'yy', 'zz'; that of 'g' is used");
    EXPECT_EQ(numbers_of(table(recipe_with_letters("d zz b", "b"))), (std::vector<double>{1, 1, 3, 9, 1, 1})); // itself a word
    EXPECT_EQ(table(recipe_with_letters("d b", "g")).rows.view.shape, (attn::Shape{2, 2}));
    EXPECT_EQ(table(recipe_with_letters("d b", "g")).warning, "");
}

TEST(EmbeddingTable, ListsTheWordsThatAreMissing)
{
    const std::string some = table_error(recipe_with_letters("a zz b yy"));
    EXPECT_TRUE(some.starts_with("letters has no vector for 'yy', 'zz'; allowed: ")) << some;
    EXPECT_EQ(some.find("casefold"), std::string::npos);
    EXPECT_NE(table_error(recipe_with_letters("a B")).find("--casefold"), std::string::npos);
    std::string many;
    for (int i = 10; i < 30; ++i) {
        many += "w" + std::to_string(i) + " ";
    }
    const std::string cut = table_error(recipe_with_letters(many));
    EXPECT_NE(cut.find("'w21', … (20 words); allowed"), std::string::npos) << cut;
    EXPECT_EQ(cut.find("w22"), std::string::npos) << cut;
}

TEST(EmbeddingTable, NamesTheOptionOfAnUnknownThatTheFileLacksWhereItWasTyped)
{
    const Recipe recipe = recipe_with_letters("a b", "zz");
    EXPECT_EQ(table_error(recipe), "embeddings.unknown: got 'zz'; allowed: a word of letters");
    const auto typed = [&] { (void)embedding_table(recipe, read_words(recipe), letters(), options_alone()); };
    EXPECT_EQ(error_of(attn::ErrorKind::usage, typed), "--unknown: got 'zz'; allowed: a word of letters");
}

TEST(EmbeddingTable, OfATensorWithoutWordsHasARowForEachId)
{
    const VectorsOfIds rows{.name = "tensor", .dim = 2, .count = 2, .rows = [](attn::Dtype) {
                                return attn::owned("tensor", Tensor<double>({2, 2}, {1, 2, 3, 4}));
                            }};
    const Recipe two = recipe_with_letters("x y x");
    EXPECT_EQ(numbers_of(embedding_table(two, read_words(two), rows)), (std::vector<double>{1, 2, 3, 4}));
    const Recipe three = recipe_with_letters("x y z");
    const std::string message = error_of([&] { (void)embedding_table(three, read_words(three), rows); });
    EXPECT_TRUE(message.starts_with("tensor: got 2 rows without a list of words; allowed: 3 rows, one")) << message;
}

TEST(EmbeddingTable, OfIdsStaysWhereItIs)
{
    const std::array<float, 4> numbers{1, 2, 3, 4};
    const attn::TensorView view = attn::row_major_view(attn::ElementType::float32, {2, 2}, std::as_bytes(std::span(numbers)));
    const VectorsOfIds rows = vectors_of_ids({.name = "tensor", .view = view}, false);
    EXPECT_FALSE(rows.takes);
    EXPECT_EQ(rows.rows(attn::Dtype::float64).view.bytes.data(), view.bytes.data());
    const auto unread = std::make_shared<const attn::Unread>(attn::Unread{.read = [] {}});
    EXPECT_FALSE(vectors_of_ids({.name = "checked", .view = view, .unread = unread}, false).takes);

    const auto owner = std::make_shared<const int>();
    const VectorsOfIds squeezed = vectors_of_ids({.name = "squeezed", .view = view, .unread = unread, .owner = owner}, false);
    EXPECT_EQ(squeezed.takes(), 16);
    (void)squeezed.rows(attn::Dtype::float32);
    EXPECT_EQ(squeezed.takes(), 0);
}

TEST(EmbeddingTable, IsOfNumbers)
{
    const std::array<std::byte, 16> bytes{};
    const auto message = [&](attn::ElementType type, Index columns) {
        const auto rows = std::span(bytes).first(static_cast<std::size_t>(2 * columns * attn::size_of(type)));
        return error_of([&] { require_table({.name = "'e.npy'", .view = attn::row_major_view(type, {2, columns}, rows)}); });
    };
    EXPECT_EQ(message(attn::ElementType::boolean, 8),
              "type of 'e.npy': got bool; allowed: float16, bfloat16, float32, float64, uint8, int32, int64");
    EXPECT_EQ(message(attn::ElementType::int64, 1), "no error");
    EXPECT_EQ(message(attn::ElementType::float32, 0), "'e.npy': got the shape (2, 0); allowed: (rows, D), D up to 1048576");
    EXPECT_EQ(message(attn::ElementType::float16, 4), "no error");
}

TEST(EmbeddingTable, RefusesNumbersThatFloat32CannotHold)
{
    const double beyond = 1e39;
    const attn::TensorView view =
        attn::row_major_view(attn::ElementType::float64, {1, 1}, std::as_bytes(std::span(&beyond, 1)));
    const VectorsOfIds rows = vectors_of_ids({.name = "tensor", .view = view}, false);
    Recipe recipe = recipe_with_letters("x");
    const std::string message = error_of([&] { (void)embedding_table(recipe, read_words(recipe), rows); });
    EXPECT_EQ(message, "tensor at (0, 0): got 1e+39, which is beyond float32; allowed: up to 3.4e38, or --dtype float64");
    recipe.dtype = attn::Dtype::float64;
    EXPECT_EQ(numbers_of(embedding_table(recipe, read_words(recipe), rows)), std::vector<double>{1e39});
}

TEST(Run, WithVectorsDrawsTheProjectionsAloneAndLooksTheWordsUp)
{
    RunSettings settings;
    settings.show = {Item::embeddings, Item::parameters, Item::weights};
    settings.word_vectors = letters();
    const Result result = run(recipe_with_letters("d b d"), settings);
    EXPECT_EQ(std::get<Tensor<float>>(*result.find("embeddings")).values, (std::vector<float>{3, 9, 1, 1, 3, 9}));
    EXPECT_EQ(std::get<Tensor<float>>(*result.find("embedding")).values, (std::vector<float>{1, 1, 3, 9}));
    EXPECT_EQ(result.parameters.front().name, "embedding");
    Recipe drawn = default_recipe();
    drawn.input = SentenceInput{.sentence = "d b d", .cross = {}};
    drawn.dims.embed_dim = 2;
    std::erase_if(drawn.draws, [](const Step& step) {
        const auto* draw = std::get_if<Draw>(&step);
        return draw != nullptr && draw->target == Target::embedding;
    });
    drawn.draws.emplace_back(Draw{.target = Target::embedding, .init = Initialisation::normal});
    RunSettings plain;
    plain.show = {Item::parameters};
    EXPECT_EQ(std::get<Tensor<float>>(*result.find("W_q")).values,
              std::get<Tensor<float>>(*run(drawn, plain).find("W_q")).values);
}

} // namespace
