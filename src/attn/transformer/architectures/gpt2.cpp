// GPT-2: learned positions, norms in front, weights stored as (in, out), queries, keys and values in one.
// (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

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

} // namespace attn::transformer
