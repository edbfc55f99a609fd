#include "attn/transformer/architectures/describe.hpp"

#include "unit/error_of.hpp"
#include "unit/transformer/small_models.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

namespace transformer = attn::transformer;
using small::bert;
using small::described;
using small::llama;
using small::with;
using transformer::Architecture;
using transformer::ConfigScalar;

std::string refusal(const transformer::ConfigValues& values)
{
    return error_of([&] { (void)described(values); });
}

TEST(Describe, RefusesAnUnknownModelTypeAndNamesTheKnownOnes)
{
    const std::string message = refusal(with(bert(), "model_type", "mixtral"));
    EXPECT_TRUE(message.starts_with("model_type: got 'mixtral'; allowed: bart, bert, camembert, distilbert, ")) << message;
    const auto types = transformer::model_types();
    EXPECT_TRUE(std::ranges::is_sorted(types));
    EXPECT_NE(message.find(std::string(types.back())), std::string::npos);
}

TEST(Describe, RefusesWhatWouldChangeTheNumbers)
{
    EXPECT_EQ(refusal(with(bert(), "position_embedding_type", "relative_key")),
              "position_embedding_type: got 'relative_key'; allowed: 'absolute', the one that is computed here");
    EXPECT_EQ(refusal(with(bert(), "hidden_act", "mish")),
              "hidden_act: got 'mish'; allowed: gelu, gelu_fast, gelu_new, gelu_pytorch_tanh, gelu_python, quick_gelu, "
              "relu, silu, swish");
    EXPECT_EQ(refusal(with(llama(), "rope_scaling.rope_type", "yarn")),
              "rope_type: got 'yarn'; allowed: default, linear, llama3; no other scaling of positions is computed here");
    EXPECT_TRUE(refusal(with(llama(), "num_local_experts", 8.0)).starts_with("'num_local_experts' = 8 is not known"));
    const auto quantised = with(llama(), "quantization_config", transformer::ConfigObject{});
    EXPECT_TRUE(
        refusal(with(quantised, "quantization_config.bits", 4.0)).starts_with("'quantization_config' = an object is not"));
    EXPECT_TRUE(
        refusal(with(quantised, "quantization_config.quant_method", "fp8")).starts_with("'quantization_config' = an obj"));
    EXPECT_EQ(refusal(with(llama(), "num_key_value_heads", 3.0)),
              "num_attention_heads: got 4; allowed: a multiple of the 3 key/value heads");
    EXPECT_EQ(refusal(with(bert(), "num_attention_heads", 3.0)), "hidden size: got 4; allowed: a multiple of the 3 heads");
    EXPECT_EQ(refusal(with(bert(), "num_hidden_layers", 4097.0)),
              "num_hidden_layers: got 4097; allowed: a whole number from 1 to 4096");
    EXPECT_EQ(refusal(with(bert(), "num_hidden_layers", transformer::ConfigNull{})),
              "it has no num_hidden_layers, which this model_type needs");
    EXPECT_EQ(refusal(with(bert(), "num_hidden_layers", 1e20)),
              "num_hidden_layers: got 1e+20; allowed: a whole number from 1 to 4096");
    EXPECT_EQ(refusal(with(bert(), "is_decoder", true)), "is_decoder: got true; allowed: false, the one that is computed here");
}

TEST(Describe, RefusesAListOfLayersThatIsNoneOfThisModel)
{
    auto values = with(with(llama(), "model_type", "qwen2"), "layer_types", std::vector<ConfigScalar>{"full_attention"});
    EXPECT_EQ(refusal(values), "layer_types: got a list of 1; allowed: 2 words, one for each layer");
    values["layer_types"] = std::vector<ConfigScalar>{"full_attention", "chunked_attention"};
    EXPECT_EQ(refusal(values), "layer_types: got 'chunked_attention'; allowed: full_attention, sliding_attention");
    values = with(with(llama(), "model_type", "smollm3"), "no_rope_layers", std::vector<ConfigScalar>{1.0, 0.0, 1.0});
    EXPECT_EQ(refusal(values), "no_rope_layers: got a list of 3; allowed: 2 numbers, one for each layer");
}

/// Old names and new ones of the same config.
void expect_same_positions(const transformer::ConfigValues& old, const transformer::ConfigValues& now)
{
    const Architecture a = described(old), b = described(now);
    ASSERT_EQ(a.layers.size(), b.layers.size());
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        const auto& [x, y] = std::pair(a.layers[l].attention, b.layers[l].attention);
        EXPECT_EQ(x.rope, y.rope) << l;
        EXPECT_EQ(x.window.has_value(), y.window.has_value()) << l;
        EXPECT_EQ(x.window.value_or(transformer::WindowPart{}).left, y.window.value_or(transformer::WindowPart{}).left) << l;
    }
}

TEST(Describe, TakesWhatAGgufFileSaid)
{
    auto unpacked = with(with(llama(), "_model_name_or_path", "tiny"), "unk_token_id", 0.0);
    unpacked["quantization_config.quant_method"] = "gguf";
    unpacked["quantization_config.dequantize"] = false;
    EXPECT_EQ(described(unpacked).layers.size(), described(llama()).layers.size());
    const transformer::ConfigValues gpt2{{"model_type", "gpt2"}, {"n_embd", 4.0},     {"n_layer", 1.0},
                                         {"n_head", 2.0},        {"vocab_size", 9.0}, {"n_inner", transformer::ConfigNull{}}};
    EXPECT_EQ(described(with(gpt2, "feed_forward_length", 6.0)).layers.front().mlp.up.out, 6);
}

TEST(Describe, ReadsRotaryPositionsByOldNamesAndByNew)
{
    auto old = with(llama(), "rope_theta", 500000.0), now = with(llama(), "rope_parameters.rope_theta", 500000.0);
    expect_same_positions(old, now);
    for (const auto& [key, value] : {std::pair("factor", 8.0),
                                     {"low_freq_factor", 2.0},
                                     {"high_freq_factor", 3.0},
                                     {"original_max_position_embeddings", 16.0}}) {
        old["rope_scaling." + std::string(key)] = now["rope_parameters." + std::string(key)] = value;
    }
    old["rope_scaling.type"] = now["rope_parameters.rope_type"] = "llama3";
    expect_same_positions(old, now);
    const transformer::RopePart rope = *described(now).layers[0].attention.rope;
    EXPECT_EQ(rope, (transformer::RopePart{500000, 2, transformer::RopeScaling::llama3, 8, 2, 3, 16}));
}

TEST(Describe, ReadsTheTwoBasesOfGemma3ByOldNamesAndByNew)
{
    auto old = with(with(llama(), "model_type", "gemma3_text"), "head_dim", 4.0);
    auto now = old;
    old["rope_theta"] = 2e6;
    old["rope_local_base_freq"] = 9000.0;
    old["rope_scaling.rope_type"] = "linear";
    old["rope_scaling.factor"] = 8.0;
    old["sliding_window_pattern"] = 2.0;
    now["rope_parameters.full_attention.rope_theta"] = 2e6;
    now["rope_parameters.full_attention.rope_type"] = "linear";
    now["rope_parameters.full_attention.factor"] = 8.0;
    now["rope_parameters.sliding_attention.rope_theta"] = 9000.0;
    now["rope_parameters.sliding_attention.rope_type"] = "default";
    now["layer_types"] = std::vector<ConfigScalar>{"sliding_attention", "full_attention"};
    expect_same_positions(old, now);
    const Architecture a = described(now);
    EXPECT_EQ(*a.layers[0].attention.rope, (transformer::RopePart{.base = 9000, .dim = 4}));
    EXPECT_EQ(a.layers[1].attention.rope->factor, 8);
    EXPECT_EQ(a.layers[0].attention.window->left, 4095);
    EXPECT_FALSE(a.layers[1].attention.window);
}

TEST(Describe, GivesMistralTheWindowOfItsClassUnlessItIsNull)
{
    const auto values = with(llama(), "model_type", "mistral");
    EXPECT_EQ(described(values).layers[1].attention.window->left, 4095);
    EXPECT_FALSE(described(with(values, "sliding_window", transformer::ConfigNull{})).layers[1].attention.window);
}

TEST(Describe, KeepsLowLayersOfQwenWithoutWindows)
{
    auto values = with(with(llama(), "model_type", "qwen2"), "sliding_window", 16.0);
    EXPECT_FALSE(described(values).layers[1].attention.window); // not used unless the config says so
    values["use_sliding_window"] = true;
    values["max_window_layers"] = 1.0;
    EXPECT_FALSE(described(values).layers[0].attention.window);
    EXPECT_EQ(described(values).layers[1].attention.window->left, 15);
}

TEST(Describe, CountsRobertasPlacesFromBehindThePadding)
{
    const Architecture a = described(with(with(bert(), "model_type", "roberta"), "pad_token_id", 1.0));
    EXPECT_EQ(a.embedding.padding, 1);
    EXPECT_EQ(a.embedding.position_rows, 8);
    EXPECT_EQ(a.most_tokens, 6);
    EXPECT_EQ(refusal(with(with(bert(), "model_type", "roberta"), "pad_token_id", 7.0)),
              "max_position_embeddings: got 8; allowed: more than pad_token_id + 1 = 8");
}

TEST(NeededTensors, AreThoseOfBert)
{
    std::vector<std::string> lines;
    for (const auto& [name, shape] : transformer::needed_tensors(described(bert()))) {
        lines.push_back(name + " " + attn::to_string(shape));
    }
    EXPECT_EQ(lines, (std::vector<std::string>{
                         "embeddings.word_embeddings.weight (10, 4)",
                         "embeddings.position_embeddings.weight (8, 4)",
                         "embeddings.token_type_embeddings.weight (2, 4)",
                         "embeddings.LayerNorm.weight (4,)",
                         "embeddings.LayerNorm.bias (4,)",
                         "encoder.layer.0.attention.output.LayerNorm.weight (4,)",
                         "encoder.layer.0.attention.output.LayerNorm.bias (4,)",
                         "encoder.layer.0.output.LayerNorm.weight (4,)",
                         "encoder.layer.0.output.LayerNorm.bias (4,)",
                         "encoder.layer.0.attention.self.query.weight (4, 4)",
                         "encoder.layer.0.attention.self.query.bias (4,)",
                         "encoder.layer.0.attention.self.key.weight (4, 4)",
                         "encoder.layer.0.attention.self.key.bias (4,)",
                         "encoder.layer.0.attention.self.value.weight (4, 4)",
                         "encoder.layer.0.attention.self.value.bias (4,)",
                         "encoder.layer.0.attention.output.dense.weight (4, 4)",
                         "encoder.layer.0.attention.output.dense.bias (4,)",
                         "encoder.layer.0.intermediate.dense.weight (3, 4)",
                         "encoder.layer.0.intermediate.dense.bias (3,)",
                         "encoder.layer.0.output.dense.weight (4, 3)",
                         "encoder.layer.0.output.dense.bias (4,)",
                         "cls.predictions.transform.dense.weight (4, 4)",
                         "cls.predictions.transform.dense.bias (4,)",
                         "cls.predictions.transform.LayerNorm.weight (4,)",
                         "cls.predictions.transform.LayerNorm.bias (4,)",
                         "cls.predictions.decoder.weight (10, 4)",
                         "cls.predictions.bias (10,)",
                     }));
}

} // namespace
