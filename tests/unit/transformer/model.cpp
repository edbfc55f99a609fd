#include "attn/transformer/run/model.hpp"

#include "unit/error_of.hpp"
#include "unit/transformer/small_models.hpp"

#include <gtest/gtest.h>

namespace {

namespace transformer = attn::transformer;
using small::described;
using small::Tensors;

const std::string query = "encoder.layer.0.attention.self.query";

/// A BERT with a head whose tensors `change` has changed.
template <typename Change>
std::string model_error(Change change)
{
    const transformer::Architecture architecture = described(small::bert());
    Tensors tensors = small::random_tensors(architecture);
    change(tensors);
    return error_of([&] { (void)transformer::Model(architecture, tensors.weights()); });
}

TEST(Model, NamesTheTensorThatIsMissing)
{
    EXPECT_EQ(model_error([](Tensors& tensors) { tensors.erase(query + ".weight"); }),
              "tensor '" + query + ".weight': missing; config.json asks for it, with the shape (4, 4)");
}

TEST(Model, NamesTheTensorOfAnotherShapeWithBoth)
{
    EXPECT_EQ(model_error([](Tensors& tensors) {
                  tensors.set(query + ".weight", {2, 8}, std::vector<float>(16));
              }),
              "tensor '" + query + ".weight': shape: got (2, 8); allowed: (4, 4), which config.json asks for");
}

TEST(Model, NamesTheTensorThatItDoesNotKnow)
{
    EXPECT_EQ(model_error([](Tensors& tensors) { tensors.set("encoder.layer.1.new", {1}, {0}); }),
              "tensor 'encoder.layer.1.new': not known in a model of the type bert, so what it would change is not either");
}

TEST(Model, NamesTheTensorWhoseTypeIsNotRead)
{
    const auto wide = [](Tensors& tensors) {
        tensors.set(query + ".bias", {4}, std::vector<float>(4), attn::ElementType::float64);
    };
    EXPECT_EQ(model_error(wide), "tensor '" + query + ".bias': element type: got float64; allowed: float32, float16, bfloat16");
    const transformer::Architecture architecture = described(small::bert());
    Tensors tensors = small::random_tensors(architecture);
    tensors.erase(query + ".bias");
    transformer::Weights weights = tensors.weights();
    weights.add({.name = query + ".bias", .view = {}}, "I8");
    EXPECT_EQ(error_of([&] { (void)transformer::Model(architecture, weights); }),
              "tensor '" + query + ".bias': element type: got I8; allowed: float32, float16, bfloat16");
}

TEST(Model, NamesTheTensorThatIsNotRowMajor)
{
    const transformer::Architecture architecture = described(small::bert());
    Tensors tensors = small::random_tensors(architecture);
    const attn::StoredTensor stored = tensors.at(query + ".weight");
    tensors.erase(query + ".weight");
    transformer::Weights weights = tensors.weights();
    attn::TensorView turned = stored.view();
    turned.strides = attn::column_major_strides(turned.shape);
    weights.add({.name = query + ".weight", .view = turned});
    EXPECT_EQ(error_of([&] { (void)transformer::Model(architecture, weights); }),
              "tensor '" + query + ".weight': order of its bytes: got another one; allowed: row-major, little-endian");
}

TEST(Model, PassesOverBuffersAndHeadsThatClassify)
{
    EXPECT_EQ(model_error([](Tensors& tensors) {
                  tensors.set("embeddings.position_ids", {1, 8}, std::vector<float>(8), attn::ElementType::int64);
                  tensors.set("pooler.dense.weight", {4, 4}, std::vector<float>(16));
                  tensors.set("cls.seq_relationship.bias", {2}, std::vector<float>(2));
                  tensors.set("classifier.weight", {2, 4}, std::vector<float>(8));
              }),
              "no error");
}

TEST(Model, TakesThePrefixAwayThatAClassWithAHeadPutsThere)
{
    EXPECT_EQ(model_error([](Tensors& tensors) {
                  for (const std::string& name : tensors.names()) {
                      if (!name.starts_with("cls.")) {
                          tensors.rename(name, "bert." + name);
                      }
                  }
                  tensors.set("bert.pooler.dense.bias", {4}, std::vector<float>(4));
              }),
              "no error");
}

TEST(Model, KnowsTheNormsOfOldFiles)
{
    EXPECT_EQ(model_error([](Tensors& tensors) {
                  tensors.rename("embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma");
                  tensors.rename("embeddings.LayerNorm.bias", "embeddings.LayerNorm.beta");
              }),
              "no error");
}

TEST(Model, RefusesATensorThatIsThereTwice)
{
    EXPECT_EQ(model_error([](Tensors& tensors) { tensors.set("embeddings.LayerNorm.gamma", {4}, std::vector<float>(4)); }),
              "tensor 'embeddings.LayerNorm.weight': the files have it twice, under two names");
    transformer::Weights weights;
    weights.add({.name = "a", .view = {}});
    EXPECT_EQ(error_of([&] { weights.add({.name = "a", .view = {}}); }), "tensor 'a': two files of the model have it");
}

TEST(Model, HasTheHeadThatTheFilesHave)
{
    const transformer::Architecture architecture = described(small::bert());
    Tensors tensors = small::random_tensors(architecture);
    EXPECT_EQ(transformer::Model(architecture, tensors.weights()).architecture().head->words, "cls.predictions.decoder");
    tensors.erase("cls.predictions.decoder.weight");
    EXPECT_EQ(transformer::Model(architecture, tensors.weights()).architecture().head->words, "embeddings.word_embeddings");
    for (const std::string& name : tensors.names()) {
        if (name.starts_with("cls.")) {
            tensors.erase(name);
        }
    }
    EXPECT_FALSE(transformer::Model(architecture, tensors.weights()).architecture().head);
}

TEST(Model, TiesWordsWhereTheConfigSaysSo)
{
    const transformer::Architecture untied = described(small::llama());
    Tensors tensors = small::random_tensors(untied);
    EXPECT_EQ(transformer::Model(untied, tensors.weights()).architecture().head->words, "lm_head");
    const transformer::Architecture tied = described(small::with(small::llama(), "tie_word_embeddings", true));
    EXPECT_EQ(transformer::Model(tied, tensors.weights()).architecture().head->words, "embed_tokens");
    tensors.erase("lm_head.weight");
    EXPECT_EQ(transformer::Model(tied, tensors.weights()).architecture().head->words, "embed_tokens");
    EXPECT_FALSE(transformer::Model(untied, tensors.weights()).architecture().head);
}

TEST(Model, ShiftsTheNormsOfGemma)
{
    const auto values = small::with(small::with(small::llama(), "model_type", "gemma"), "head_dim", 2.0);
    const transformer::Architecture architecture = described(values);
    Tensors tensors = small::random_tensors(architecture);
    tensors.set("norm.weight", {8}, std::vector<float>(8, 0.5F));
    const transformer::Model model(architecture, tensors.weights());
    EXPECT_EQ(model.norm(*architecture.final_norm).weight, std::vector<double>(8, 1.5));
}

} // namespace
