#include "attn/model/run/run.hpp"

#include "attn/model/layer/model_dims.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/tensor/error.hpp"
#include "unit/model/recipe/option_names.hpp"
#include "unit/model/run/run_all.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace {

namespace model = attn::model;
using attn::Shape;
using attn::Tensor;
using model::Item;
using model::Recipe;
using model::Result;
using model::RunSettings;

Recipe sentence(std::string text, const model::Overrides& overrides = {})
{
    Recipe recipe = model::apply(model::default_recipe(), overrides);
    std::get<model::SentenceInput>(recipe.input).sentence = std::move(text);
    return recipe;
}

const std::string life = "Life is short, eat dessert first";

TEST(RunEntries, GiveAResultForEachEntryOrForTheOneThatIsChosen)
{
    Recipe recipe = sentence("");
    std::get<model::SentenceInput>(recipe.input).batch = {"a b", "c", "b"};
    const std::vector<Result> all = model::run_entries(recipe);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1].config().entry, 1);
    EXPECT_EQ(all[0].tokens, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(floats(all[0], "W_q").values, floats(all[2], "W_q").values);
    EXPECT_THROW((void)model::run(recipe), attn::Error);
    recipe.entry = 2;
    const std::vector<Result> one = model::run_entries(recipe);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(floats(one[0], "context").values, floats(all[2], "context").values);
    EXPECT_EQ(model::run_entries(sentence("a b")).size(), 1U);
}

attn::ErrorKind kind_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const attn::Error& error) {
        return error.kind();
    }
    ADD_FAILURE() << "no error";
    return attn::ErrorKind::internal;
}

// The numbers that the 2023 tutorial prints for its second word.
TEST(Run, PrintsTheTutorialsNumbers)
{
    const Result result = run_all(sentence(life));
    EXPECT_EQ(result.tokens, (std::vector<std::string>{"Life", "is", "short", "eat", "dessert", "first"}));
    EXPECT_EQ(*result.vocabulary, (std::vector<std::string>{"Life", "dessert", "eat", "first", "is", "short"}));
    EXPECT_EQ(result.token_ids, (std::vector<attn::Index>{0, 4, 5, 2, 1, 3}));
    const std::vector<double> weights{0.0185, 0.0312, 0.1778, 0.6368, 0.1265, 0.0092};
    const std::vector<double> scores{-7.0847, -4.5398, 3.9887, 10.2379, 2.3206, -10.5434};
    for (attn::Index j = 0; j < 6; ++j) {
        EXPECT_NEAR(floats(result, "weights").matrix()(1, j), weights[static_cast<std::size_t>(j)], 5.1e-5);
        EXPECT_NEAR(floats(result, "scores").matrix()(1, j), scores[static_cast<std::size_t>(j)], 5.1e-5);
    }
    EXPECT_NEAR(floats(result, "context").matrix()(1, 0), -0.9495, 5.1e-5);
    EXPECT_EQ(floats(result, "context").shape, (Shape{6, 28}));
    EXPECT_EQ(floats(result, "weights").shape, (Shape{1, 6, 6}));
    EXPECT_TRUE(result.warnings.empty());
}

TEST(Run, ShowsByDefaultTokensVocabularyWeightsContextAndAnOutputIfThereIsOne)
{
    EXPECT_EQ(model::run(sentence(life)).show, (model::Show{Item::tokens, Item::vocabulary, Item::weights, Item::context}));
    model::Overrides heads;
    heads.set(model::field::heads, 4);
    const Result result = model::run(sentence(life, heads));
    EXPECT_TRUE(result.show.contains(Item::output));
    EXPECT_EQ(floats(result, "output").shape, (Shape{6, 16}));
    EXPECT_EQ(result.find("scores"), nullptr);
}

TEST(Run, OfOneHeadIsTheHeadOfAStackOfOne)
{
    model::Overrides one;
    one.set(model::field::heads, 1);
    EXPECT_EQ(floats(model::run(sentence(life, one)), "weights").values, floats(model::run(sentence(life)), "weights").values);
}

TEST(Run, SelectsRowsEqualToThoseOfTheWhole)
{
    for (const model::ScoreOrder order : {model::ScoreOrder::query_key, model::ScoreOrder::key_query}) {
        Recipe recipe = sentence("a b a c d e", {});
        recipe.attention.causal = true;
        recipe.attention.order = order;
        const Result whole = run_all(recipe);
        recipe.query = {"a", "4", "2"};
        const Result part = run_all(recipe);
        EXPECT_EQ(part.query_positions, (std::vector<attn::Index>{0, 2, 4}));
        EXPECT_EQ(part.words_of_queries(), (std::vector<std::string>{"a", "a", "d"}));
        for (const char* name : {"queries", "scores", "masked_scores", "weights", "head_context", "context"}) {
            for (attn::Index i = 0; i < 3; ++i) {
                EXPECT_EQ(floats(part, name).matrix().row(i), floats(whole, name).matrix().row(2 * i)) << name;
            }
        }
        EXPECT_EQ(floats(part, "keys").values, floats(whole, "keys").values);
        EXPECT_EQ(floats(part, "entropy").shape, (Shape{1, 3}));
    }
}

TEST(Run, GivesTheSameBitsForAnyNumberOfThreads)
{
    std::string text;
    for (int i = 0; i < 400; ++i) {
        text.append("w").append(std::to_string(i % 150)).append(" ");
    }
    model::Overrides heads;
    heads.set(model::field::heads, 2);
    RunSettings settings;
    const Result one = model::run(sentence(text, heads), settings);
    settings.threads = 3;
    const Result three = model::run(sentence(text, heads), settings);
    EXPECT_EQ(floats(one, "weights").values, floats(three, "weights").values);
    EXPECT_EQ(floats(one, "output").values, floats(three, "output").values);
}

TEST(Run, AttendsAcrossTwoSentencesWithOneVocabulary)
{
    Recipe recipe = sentence("one two", {});
    std::get<model::SentenceInput>(recipe.input).cross = "two three four";
    const Result result = run_all(recipe);
    EXPECT_EQ(*result.vocabulary, (std::vector<std::string>{"four", "one", "three", "two"}));
    EXPECT_EQ(result.key_token_ids, (std::vector<attn::Index>{3, 2, 0}));
    EXPECT_EQ(floats(result, "weights").shape, (Shape{1, 2, 3}));
    EXPECT_EQ(floats(result, "key_embeddings").matrix().row(0), floats(result, "embeddings").matrix().row(1));
    EXPECT_EQ(result.words_of_keys(), result.key_tokens);
}

TEST(Run, WithIdentityProjectionsScoresTheEmbeddingsThemselves)
{
    model::Overrides overrides;
    overrides.set(model::draw_field::init, static_cast<attn::Index>(model::Initialisation::identity));
    overrides.set(model::field::embed_dim, 40); // of which nothing is cut off
    overrides.set(model::field::scale, 1.0);
    const Result result = run_all(sentence("a b", overrides));
    EXPECT_EQ(floats(result, "queries").values, floats(result, "embeddings").values);
    EXPECT_EQ(floats(result, "values").values, floats(result, "embeddings").values);
    EXPECT_EQ(floats(result, "scaled_scores").values, floats(result, "scores").values);
}

TEST(Run, InFloat64DrawsTheSameParametersAsInFloat32)
{
    model::Overrides overrides;
    overrides.set(model::field::dtype, static_cast<attn::Index>(attn::Dtype::float64));
    const Result wide = run_all(sentence(life, overrides));
    const Result narrow = run_all(sentence(life));
    const auto& W_q = std::get<Tensor<double>>(*wide.find("W_q")).values;
    EXPECT_EQ(std::vector<float>(W_q.begin(), W_q.end()), floats(narrow, "W_q").values);
}

TEST(Run, VerifiesAgainstFloat64)
{
    model::Overrides overrides;
    overrides.set(model::field::verify, true);
    const Result result = run_all(sentence(life, overrides));
    ASSERT_EQ(result.verify.size(), result.front().arrays.size());
    EXPECT_EQ(result.verify[0].array, "embeddings");
    EXPECT_EQ(result.verify[0].absolute, 0);
    for (const model::Difference& difference : result.verify) {
        EXPECT_LT(difference.absolute, 1e-4) << difference.array;
        // The entropy of a row that is all but one word is a few float32 steps of its largest weight: only absolutely exact.
        EXPECT_TRUE(difference.array == "entropy" || difference.relative < 1e-3) << difference.array;
    }
}

TEST(Run, WarnsWhenADotProductOverflows)
{
    Recipe recipe = sentence(life);
    std::get<model::Draw>(recipe.draws[1]).second = 1e25;
    std::get<model::Draw>(recipe.draws[2]).second = 1e25;
    const Result result = model::run(recipe);
    ASSERT_FALSE(result.warnings.empty());
    EXPECT_NE(result.warnings[0].find("queries: a dot product overflowed float32"), std::string::npos);
}

TEST(Run, WarnsWhenTheScaleOverflowsAndStillGivesWeights)
{
    model::Overrides overrides;
    overrides.set(model::field::scale, 1e38);
    const Result result = model::run(sentence(life, overrides));
    ASSERT_EQ(result.warnings.size(), 1U);
    EXPECT_EQ(result.warnings[0], "scores: a dot product, or its scaling, overflowed float32; --dtype float64 has more room");
    for (const float weight : floats(result, "weights").values) {
        EXPECT_TRUE(std::isfinite(weight));
    }
}

TEST(Run, StaysFiniteForLargeFiniteScores)
{
    Recipe recipe = sentence(life);
    std::get<model::Draw>(recipe.draws[1]).second = 1e15;
    const Result result = model::run(recipe);
    for (const float weight : floats(result, "weights").values) {
        EXPECT_TRUE(std::isfinite(weight));
    }
    EXPECT_TRUE(result.warnings.empty());
}

// Every size is another number, so that none can stand for another.
Recipe of_many_sizes()
{
    model::Overrides overrides;
    for (const auto& [field, size] : {std::pair{&model::field::heads, 4},
                                      {&model::field::kv_heads, 2},
                                      {&model::field::embed_dim, 8},
                                      {&model::field::d_k, 7},
                                      {&model::field::d_v, 6},
                                      {&model::field::output_dim, 9}}) {
        overrides.set(*field, size);
    }
    overrides.set(model::field::softcap, 3.0);
    overrides.set(model::field::causal, true);
    return sentence("a b c d e", overrides);
}

void expect_foretold_shapes(const Recipe& recipe, attn::Index extra_keys)
{
    model::ModelDims dims;
    RunSettings settings;
    settings.show = model::everything(recipe);
    settings.sized = [&](const model::ModelDims& sizes, const std::vector<attn::Index>& /*query_positions*/) { dims = sizes; };
    const Result result = model::run(recipe, settings);
    EXPECT_GT(result.front().arrays.size(), 8U);
    for (const model::Array& array : result.front().arrays) {
        EXPECT_EQ(model::shape_of(*model::item_called(array.name), dims, extra_keys), shape_of(array.tensor)) << array.name;
    }
}

TEST(Run, TellsTheSizesFromWhichTheShapesOfItsArraysFollow)
{
    expect_foretold_shapes(of_many_sizes(), 0);

    Recipe cross = of_many_sizes();
    cross.attention.causal = false;
    std::get<model::SentenceInput>(cross.input).cross = "f g h";
    expect_foretold_shapes(cross, 0);

    Recipe extra = sentence("a b c d e");
    extra.draws = {model::Seed{123}, model::Draw{.target = model::Target::embedding},
                   model::Draw{.init = model::Initialisation::multihead_attention, .add_bias_kv = true}};
    expect_foretold_shapes(extra, 1);
}

TEST(Run, TellsTheSizesBeforeItReadsAFile)
{
    bool told = false, read = false;
    RunSettings settings;
    settings.word_vectors = model::VectorsOfIds{.name = "table", .dim = 2, .count = 3, .rows = [&](attn::Dtype) {
                                                    read = true;
                                                    return attn::owned("table", Tensor<double>({3, 2}));
                                                }};
    settings.sized = [&](const model::ModelDims& sizes, const std::vector<attn::Index>& query_positions) {
        told = sizes.T == 3 && query_positions == std::vector<attn::Index>{1} && !read;
    };
    model::Overrides overrides;
    overrides.set(model::field::embeddings_file, std::string("table"));
    Recipe recipe = model::with_vectors(sentence("a b c", overrides), *settings.word_vectors);
    recipe.query = {"b"};
    (void)model::run(recipe, settings);
    EXPECT_TRUE(told && read);
}

TEST(Run, RefusesBeforeAllocatingWhatDoesNotFit)
{
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        text += "word ";
    }
    RunSettings settings;
    settings.memory_limit = 3'000'000; // a million float32 weights are 4 MB
    EXPECT_EQ(kind_of([&] { (void)model::run(sentence(text), settings); }), attn::ErrorKind::too_large);
    settings.show = {Item::context};
    EXPECT_NO_THROW((void)model::run(sentence(text), settings));
    settings.memory_limit = std::numeric_limits<attn::Index>::max();
    Recipe huge = sentence(text);
    huge.dims.vocab_size = attn::Index{1} << 60;
    EXPECT_EQ(kind_of([&] { (void)model::run(huge, settings); }), attn::ErrorKind::too_large);
}

TEST(Run, SaysWhatIsWrongWithItsInput)
{
    using attn::ErrorKind;
    EXPECT_EQ(kind_of([] { (void)model::run(sentence("")); }), ErrorKind::data);
    EXPECT_EQ(kind_of([] { (void)model::run(sentence(" , ,,\t")); }), ErrorKind::data);
    EXPECT_EQ(kind_of([] { (void)model::run(sentence("a \xff b")); }), ErrorKind::data);
    Recipe recipe = sentence(life);
    const RunSettings options{.show = {}, .observer = {}, .origin = model::options_alone()};
    for (const char* query : {"6", "life"}) {
        recipe.query = {query};
        EXPECT_EQ(kind_of([&] { (void)model::run(recipe, options); }), ErrorKind::usage);
        EXPECT_EQ(kind_of([&] { (void)model::run(recipe); }), ErrorKind::data);
    }
    RunSettings settings;
    settings.show = {Item::masked_scores};
    EXPECT_EQ(kind_of([&] { (void)model::run(sentence(life), settings); }), ErrorKind::usage);
}

TEST(Run, TellsTheObserverEachStageAndStopsWhenItThrows)
{
    std::vector<std::string> stages;
    RunSettings settings;
    settings.observer = [&](const model::Progress& progress) {
        if (progress.share == 0) {
            stages.emplace_back(progress.stage);
        }
    };
    (void)model::run(sentence(life), settings);
    EXPECT_EQ(stages,
              (std::vector<std::string>{"tokens", "parameters", "embeddings", "queries", "keys", "values", "attention"}));
    settings.observer = [](const model::Progress&) { throw attn::Error(attn::ErrorKind::interrupted, "stop"); };
    EXPECT_EQ(kind_of([&] { (void)model::run(sentence(life), settings); }), attn::ErrorKind::interrupted);
}

} // namespace
