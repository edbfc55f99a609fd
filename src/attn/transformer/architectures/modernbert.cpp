// ModernBERT: an encoder with rotary positions, norms in front (layer 0 has none before its attention), a gate in the MLP, and
// windows to both sides in two of three layers. (Warner et al. 2024, "Smarter, Better, Faster, Longer: A Modern Bidirectional
// Encoder".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_modernbert(Config& config)
{
    constexpr LayerNames names{.layers = "layers.",
                               .attention_in = "attn_norm",
                               .query = "attn.Wqkv",
                               .key = "attn.Wqkv",
                               .value = "attn.Wqkv",
                               .output = "attn.Wo",
                               .mlp_in = "mlp_norm",
                               .gate = "mlp.Wi",
                               .up = "mlp.Wi",
                               .down = "mlp.Wo"};
    LayerStyle style{.norm = {.epsilon = config.positive({"norm_eps"}, 1e-5), .bias = config.flag({"norm_bias"}, false)}};
    Sizes s = sizes_of(config);
    s.H_kv = s.H; // whatever num_key_value_heads says
    style.activation = activation_of(config, hidden_activation, "gelu");
    style.attention_bias = style.output_bias = config.flag({attention_bias}, false);
    style.mlp_bias = config.flag({mlp_bias}, false);
    const Index half = config.count({"local_attention"}, 128) / 2;
    const Index every = config.count({"global_attn_every_n_layers"}, 3);
    const std::vector<bool> local = sliding_layers(config, s.L, [&](Index l) { return l % every != 0; });
    style.rope = unscaled_rope(config, full_attention, "global_rope_theta", 160000);
    RopePart of_local = unscaled_rope(config, sliding_attention, "local_rope_theta", 10000);
    style.rope->dim = of_local.dim = s.d;
    config.pass_over({"decoder_bias", "deterministic_flash_attn", "reference_compile", "repad_logits_with_grad",
                      position_embedding_type, layer_norm_eps});
    Architecture a{.D = s.D, .most_tokens = config.count({max_position_embeddings}, 8192)};
    a.embedding = {.words = "embeddings.tok_embeddings", .V = s.V, .size = s.D, .norm = named(style.norm, "embeddings.norm")};
    a.layers = layers_of(names, s, style);
    a.layers.front().attention_in.reset();
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        if (local[l]) {
            a.layers[l].attention.rope = of_local;
            a.layers[l].attention.window = WindowPart{half, half};
        }
    }
    a.final_norm = named(style.norm, "final_norm");
    a.head = encoder_head(config, a, {"head.dense", "head.norm", "decoder", "decoder.bias"});
    a.head->transform->bias = config.flag({"classifier_bias"}, false);
    a.head->activation = activation_of(config, "classifier_activation", "gelu");
    a.prefixes = {"model."};
    a.passed_over = {"head.*"};
    return a;
}

} // namespace attn::transformer
