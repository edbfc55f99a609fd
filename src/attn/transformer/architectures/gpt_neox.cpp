// GPT-NeoX and Pythia: attention and MLP side by side, queries, keys and values of each head in turn, rotary positions for a
// part of each head. (Black et al. 2022, "GPT-NeoX-20B: An Open-Source Autoregressive Language Model".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_gpt_neox(Config& config)
{
    const Sizes s = sizes_of(config);
    const double epsilon = config.positive({"layer_norm_eps"}, 1e-5);
    const Activation activation = activation_of(config, {"hidden_act"}, "gelu");
    const RopePart rope = rope_of(config, s.d, {.base = 10000, .share = 0.25});
    const bool parallel = config.flag({"use_parallel_residual"}, true);
    const bool bias = config.flag({"attention_bias"}, true);
    Architecture a{.D = s.D, .causal = true, .most_tokens = config.count({"max_position_embeddings"}, 2048)};
    a.embedding = {.words = "embed_in", .V = s.V, .size = s.D};
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = layer_name("layers.", l);
        const auto part = [&](Index n) {
            return LinearPart{.name = at + "attention.query_key_value",
                              .in = s.D,
                              .out = s.D,
                              .bias = bias,
                              .rows = {.stored = 3 * s.D, .first = n * s.d, .group = s.d, .step = 3 * s.d}};
        };
        LayerPart layer;
        layer.attention_in = NormPart{at + "input_layernorm", epsilon};
        layer.attention = {.H = s.H,
                           .H_kv = s.H,
                           .d = s.d,
                           .query = part(0),
                           .key = part(1),
                           .value = part(2),
                           .output = linear(at + "attention.dense", s.D, s.D, bias),
                           .rope = rope,
                           .scale = inverse_root(static_cast<double>(s.d))};
        layer.mlp_in = NormPart{at + "post_attention_layernorm", epsilon};
        layer.mlp = {.up = linear(at + "mlp.dense_h_to_4h", s.D, s.inner),
                     .down = linear(at + "mlp.dense_4h_to_h", s.inner, s.D),
                     .activation = activation};
        layer.parallel = parallel;
        a.layers.push_back(std::move(layer));
    }
    a.final_norm = NormPart{"final_layer_norm", epsilon};
    a.head = HeadPart{.words = "embed_out", .tied = tied_of(config)};
    a.prefixes = {"gpt_neox."};
    a.passed_over = {"layers.*.attention.bias"}; // a mask
    return a;
}

} // namespace attn::transformer
