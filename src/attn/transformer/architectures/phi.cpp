// Phi 1 to 2: one norm in front of attention and MLP, which stand side by side; biases everywhere. (Li et al. 2023, "Textbooks
// Are All You Need II: phi-1.5 technical report".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_phi(Config& config)
{
    const Sizes s = sizes_of(config);
    const double epsilon = config.positive({"layer_norm_eps"}, 1e-5);
    const Activation activation = activation_of(config, {"hidden_act"}, "gelu_new");
    const RopePart rope = rope_of(config, s.d, {.base = 10000, .share = 0.5});
    config.require("qk_layernorm", false);
    Architecture a{.D = s.D, .causal = true, .most_tokens = config.count({"max_position_embeddings"}, 2048)};
    a.embedding = {.words = "embed_tokens", .V = s.V, .size = s.D};
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = layer_name("layers.", l);
        LayerPart layer;
        layer.attention_in = layer.mlp_in = NormPart{at + "input_layernorm", epsilon};
        layer.attention = {.H = s.H,
                           .H_kv = s.H_kv,
                           .d = s.d,
                           .query = linear(at + "self_attn.q_proj", s.D, s.H * s.d),
                           .key = linear(at + "self_attn.k_proj", s.D, s.H_kv * s.d),
                           .value = linear(at + "self_attn.v_proj", s.D, s.H_kv * s.d),
                           .output = linear(at + "self_attn.dense", s.H * s.d, s.D),
                           .rope = rope,
                           .scale = inverse_root(static_cast<double>(s.d))};
        layer.mlp = {
            .up = linear(at + "mlp.fc1", s.D, s.inner), .down = linear(at + "mlp.fc2", s.inner, s.D), .activation = activation};
        layer.parallel = true;
        a.layers.push_back(std::move(layer));
    }
    a.final_norm = NormPart{"final_layernorm", epsilon};
    a.head = HeadPart{.words = "lm_head", .tied = tied_of(config), .bias = "lm_head.bias"};
    a.prefixes = {"model."};
    return a;
}

} // namespace attn::transformer
