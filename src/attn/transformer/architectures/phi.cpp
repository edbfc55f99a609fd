// Phi 1 to 2: one norm in front of attention and MLP, which stand side by side; biases everywhere. (Li et al. 2023, "Textbooks
// Are All You Need II: phi-1.5 technical report".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

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

} // namespace attn::transformer
