// GPT-NeoX and Pythia: attention and MLP side by side, queries, keys and values of each head in turn, rotary positions for a
// part of each head. (Black et al. 2022, "GPT-NeoX-20B: An Open-Source Autoregressive Language Model".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

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

} // namespace attn::transformer
