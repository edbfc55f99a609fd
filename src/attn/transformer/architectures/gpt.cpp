// Decoders with layer norms, and an MLP without a gate: GPT-2, GPT-NeoX, Phi, and the model of tutorials.
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

// GPT-2: learned positions, norms in front, weights stored as (in, out), queries, keys and values in one.
// (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners".)

Architecture describe_gpt2(Config& config)
{
    constexpr LayerNames names{.layers = "h.",
                               .attention_in = "ln_1",
                               .query = "attn.c_attn",
                               .key = "attn.c_attn",
                               .value = "attn.c_attn",
                               .output = "attn.c_proj",
                               .mlp_in = "ln_2",
                               .up = "mlp.c_fc",
                               .down = "mlp.c_proj"};
    Sizes s{.D = config.count({"n_embd", hidden_size}),
            .L = config.layers({"n_layer", num_hidden_layers}),
            .H = config.count({"n_head", num_attention_heads})};
    s.H_kv = s.H;
    s.d = head_size(s.D, s.H);
    s.inner = config.optional_count({"n_inner", "feed_forward_length"}, {}).value_or(4 * s.D);
    const LayerStyle style{.norm = {.epsilon = config.positive({"layer_norm_epsilon"}, 1e-5)},
                           .activation = activation_of(config, "activation_function", "gelu_new"),
                           .input_major = true};
    const bool scaled = config.flag({"scale_attn_weights"}, true);
    const bool by_layer = config.flag({"scale_attn_by_inverse_layer_idx"}, false);
    config.pass_over({"n_ctx"});
    Architecture a{.D = s.D, .causal = true, .most_tokens = config.count({"n_positions", max_position_embeddings}, 1024)};
    a.embedding = {
        .words = "wte", .V = config.count({vocab_size}), .size = s.D, .positions = "wpe", .position_rows = a.most_tokens};
    a.layers = layers_of(names, s, style);
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        double& scale = a.layers[l].attention.scale;
        scale = (scaled ? scale : 1.0) / (by_layer ? static_cast<double>(l + 1) : 1.0);
    }
    a.final_norm = named(style.norm, "ln_f");
    a.head = HeadPart{.words = "lm_head", .tied = tied_of(config)};
    a.prefixes = {"transformer."};
    a.passed_over = {"h.*.attn.bias"}; // a mask
    return a;
}

// GPT-NeoX and Pythia: attention and MLP side by side, queries, keys and values of each head in turn, rotary positions for a
// part of each head. (Black et al. 2022, "GPT-NeoX-20B: An Open-Source Autoregressive Language Model".)

Architecture describe_gpt_neox(Config& config)
{
    constexpr LayerNames names{.layers = "layers.",
                               .attention_in = "input_layernorm",
                               .query = "attention.query_key_value",
                               .key = "attention.query_key_value",
                               .value = "attention.query_key_value",
                               .output = "attention.dense",
                               .mlp_in = "post_attention_layernorm",
                               .up = "mlp.dense_h_to_4h",
                               .down = "mlp.dense_4h_to_h"};
    Sizes s = sizes_of(config);
    s.H_kv = s.H; // whatever num_key_value_heads says
    LayerStyle style = style_of(config, 1e-5, "gelu");
    style.rope = rope_of(config, s.d, {.base = 10000, .share = 0.25});
    style.parallel = config.flag({"use_parallel_residual"}, true);
    style.attention_bias = style.output_bias = config.flag({attention_bias}, true);
    style.heads_in_turn = true;
    return {.D = s.D,
            .causal = true,
            .most_tokens = config.count({max_position_embeddings}, 2048),
            .embedding = {.words = "embed_in", .V = s.V, .size = s.D},
            .layers = layers_of(names, s, style),
            .final_norm = named(style.norm, "final_layer_norm"),
            .head = HeadPart{.words = "embed_out", .tied = tied_of(config)},
            .prefixes = {"gpt_neox."},
            .passed_over = {"layers.*.attention.bias"}}; // a mask
}

// Phi 1 to 2: one norm in front of attention and MLP, which stand side by side; biases everywhere. (Li et al. 2023, "Textbooks
// Are All You Need II: phi-1.5 technical report".)

Architecture describe_phi(Config& config)
{
    constexpr LayerNames names{.layers = "layers.",
                               .attention_in = "input_layernorm",
                               .query = "self_attn.q_proj",
                               .key = "self_attn.k_proj",
                               .value = "self_attn.v_proj",
                               .output = "self_attn.dense",
                               .mlp_in = "input_layernorm",
                               .up = "mlp.fc1",
                               .down = "mlp.fc2"};
    const Sizes s = sizes_of(config);
    LayerStyle style = style_of(config, 1e-5, "gelu_new");
    style.rope = rope_of(config, s.d, {.base = 10000, .share = 0.5});
    style.parallel = true;
    config.require("qk_layernorm", false);
    return {.D = s.D,
            .causal = true,
            .most_tokens = config.count({max_position_embeddings}, 2048),
            .embedding = {.words = "embed_tokens", .V = s.V, .size = s.D},
            .layers = layers_of(names, s, style),
            .final_norm = named(style.norm, "final_layernorm"),
            .head = HeadPart{.words = "lm_head", .tied = tied_of(config), .bias = "lm_head.bias"},
            .prefixes = {"model."}};
}

// The model that tutorials build by hand: blocks of attention and MLP with residuals and layer norms, learned positions.
// norm_first: whether norms stand in front of a part, as in GPT-2, or behind each sum, as in the first paper.
// (Vaswani et al. 2017, "Attention Is All You Need".)

Architecture describe_tutorial(Config& config)
{
    const Sizes s = sizes_of(config);
    LayerStyle style = style_of(config, 1e-5, "gelu");
    const bool norm_first = config.flag({"norm_first"}, true);
    style.attention_bias = config.flag({attention_bias}, true);
    style.output_bias = config.flag({"attention_output_bias"}, true);
    style.mlp_bias = config.flag({mlp_bias}, true);
    LayerNames names{
        .layers = "layers.", .query = "query", .key = "key", .value = "value", .output = "output", .up = "up", .down = "down"};
    (norm_first ? names.attention_in : names.attention_sum) = "attention_norm";
    (norm_first ? names.mlp_in : names.mlp_sum) = "mlp_norm";
    Architecture a{
        .D = s.D, .causal = config.flag({"causal"}, true), .most_tokens = config.count({max_position_embeddings}, 1024)};
    a.embedding = {.words = "words", .V = s.V, .size = s.D};
    if (config.flag({"learned_positions"}, true)) {
        a.embedding.positions = "positions";
        a.embedding.position_rows = a.most_tokens;
    }
    a.layers = layers_of(names, s, style);
    if (config.flag({"final_norm"}, norm_first)) {
        a.final_norm = named(style.norm, "norm");
    }
    a.head = HeadPart{.words = "head", .tied = tied_of(config) == Tied::yes ? Tied::yes : Tied::no};
    return a;
}

} // namespace attn::transformer
