#include "attn/model/run/batch_runner.hpp"

#include "attn/model/recipe/overrides.hpp"
#include "attn/tensor/error.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace model = attn::model;
using model::Item;
using model::Recipe;
using model::Result;

Recipe recipe_with(const model::Overrides& overrides)
{
    model::Overrides with_text = overrides;
    with_text.set(model::field::sentence, "");
    return model::apply(model::default_recipe(), with_text);
}

/// Words with repetitions.
std::string random_sentence(std::mt19937& random, unsigned most)
{
    std::string text;
    const unsigned count = 1 + static_cast<unsigned>(random()) % most;
    for (unsigned i = 0; i < count; ++i) {
        text += "w" + std::to_string(random() % (count + 1)) + " ";
    }
    return text;
}

template <typename Scalar>
std::string_view bytes_of(const std::vector<Scalar>& values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Scalar)};
}

void expect_equal(const Result& got, const Result& expected)
{
    EXPECT_EQ(got.tokens, expected.tokens);
    EXPECT_EQ(got.vocabulary, expected.vocabulary);
    EXPECT_EQ(got.token_ids, expected.token_ids);
    EXPECT_EQ(got.key_token_ids, expected.key_token_ids);
    EXPECT_EQ(got.query_positions, expected.query_positions);
    EXPECT_EQ(got.warnings, expected.warnings);
    EXPECT_EQ(got.show, expected.show);
    EXPECT_EQ(got.config().input, expected.config().input);
    EXPECT_EQ(got.config().draws, expected.config().draws);
    const auto expect_equal_arrays = [](const std::vector<model::Array>& a, const std::vector<model::Array>& b) {
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].name, b[i].name);
            std::visit(
                [&](const auto& tensor) {
                    const auto& other = std::get<std::decay_t<decltype(tensor)>>(b[i].tensor);
                    EXPECT_EQ(tensor.shape, other.shape) << a[i].name;
                    EXPECT_EQ(bytes_of(tensor.values), bytes_of(other.values)) << a[i].name; // NaN is no other than itself
                },
                a[i].tensor);
        }
    };
    expect_equal_arrays(got.front().arrays, expected.front().arrays);
    if (expected.show.contains(Item::parameters)) {
        expect_equal_arrays(got.parameters, expected.parameters);
    }
}

void expect_series_equals_runs(Recipe recipe, const model::Show& show, unsigned most_words)
{
    model::RunSettings settings;
    settings.show = show;
    model::BatchRunner series(recipe, settings);
    std::mt19937 random(17);
    for (int i = 0; i < 40; ++i) {
        const std::string text = random_sentence(random, most_words);
        std::get<model::SentenceInput>(recipe.input).sentence = text;
        expect_equal(series.run(text), model::run(recipe, settings));
    }
}

model::Show all_of(const Recipe& recipe)
{
    return model::everything(recipe);
}

TEST(BatchRunner, GivesWhatSingleRunsGive)
{
    model::Overrides heads;
    heads.set(model::field::heads, 4);
    heads.set(model::field::kv_heads, 2);
    heads.set(model::field::causal, true);
    model::Overrides numpy;
    numpy.set(model::field::generator, static_cast<attn::Index>(model::Generator::numpy));
    numpy.set(model::field::dtype, static_cast<attn::Index>(attn::Dtype::float64));
    numpy.set(model::field::cross, "one two w1");
    model::Overrides wide_table;
    wide_table.set(model::field::vocab_size, 50);
    wide_table.set(model::field::query, std::vector<std::string>{"0"});
    wide_table.set(model::field::verify, true);
    for (const model::Overrides& overrides : {model::Overrides{}, heads, numpy, wide_table}) {
        const Recipe recipe = recipe_with(overrides);
        expect_series_equals_runs(recipe, {}, 9);
        expect_series_equals_runs(recipe, all_of(recipe), 9);
    }
}

TEST(BatchRunner, GivesWhatSingleRunsGiveForDrawsByPosition)
{
    Recipe recipe = recipe_with({});
    recipe.draws = {model::Seed{7},
                    model::Draw{.target = model::Target::none, .init = model::Initialisation::normal, .shape = {{"T"}}},
                    model::Draw{.target = model::Target::embeddings, .init = model::Initialisation::normal},
                    model::Draw{.target = model::Target::W_q},
                    model::Draw{.target = model::Target::W_k},
                    model::Draw{.target = model::Target::W_v, .init = model::Initialisation::xavier},
                    model::Draw{.target = model::Target::b_v}};
    expect_series_equals_runs(recipe, all_of(recipe), 9);
}

// Tables of different sizes, some kept, some too large for that, and in all more than is kept.
TEST(BatchRunner, GivesWhatSingleRunsGiveWhenItForgets)
{
    model::Overrides wide;
    wide.set(model::field::embed_dim, 512);
    wide.set(model::field::d_k, 32);
    expect_series_equals_runs(recipe_with(wide), {}, 400);
}

// The warning is of the words of this sentence, not of the table's other rows.
TEST(BatchRunner, WarnsOfWhatOverflowedInTheSentence)
{
    Recipe recipe = recipe_with({});
    recipe.dims.vocab_size = 30;
    std::get<model::Draw>(recipe.draws[2]).second = 1e38; // W_q: some rows of the table overflow
    expect_series_equals_runs(recipe, {}, 6);
}

TEST(BatchRunner, GoesOnAfterABadSentence)
{
    model::BatchRunner series(recipe_with({}), {});
    EXPECT_THROW((void)series.run(", ,"), attn::Error);
    EXPECT_EQ(series.run("a b").tokens, (std::vector<std::string>{"a", "b"}));
    series.set_memory_limit(100);
    EXPECT_THROW((void)series.run("a b"), attn::Error);
    series.set_memory_limit(attn::Index{1} << 30);
    EXPECT_EQ(series.run("a b c").tokens.size(), 3U);
}

} // namespace
