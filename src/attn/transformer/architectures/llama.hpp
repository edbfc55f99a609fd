// Llama, from which its kin start.
#pragma once

#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

inline constexpr LayerNames llama_names{.layers = "layers.",
                                        .attention_in = "input_layernorm",
                                        .query = "self_attn.q_proj",
                                        .key = "self_attn.k_proj",
                                        .value = "self_attn.v_proj",
                                        .output = "self_attn.o_proj",
                                        .mlp_in = "post_attention_layernorm",
                                        .gate = "mlp.gate_proj",
                                        .up = "mlp.up_proj",
                                        .down = "mlp.down_proj"};

[[nodiscard]] constexpr LayerNames with_head_norms(LayerNames names)
{
    names.query_norm = "self_attn.q_norm";
    names.key_norm = "self_attn.k_norm";
    return names;
}

/// What holds where the config does not say, and what no key says.
struct LlamaDefaults {
    LayerNames names = llama_names;
    std::optional<Index> head_dim = {}; ///< D / H when absent
    double epsilon = 1e-6;
    std::optional<double> rope = 10000;        ///< the base; absent: the caller sets rotary positions
    std::optional<Activation> activation = {}; ///< hidden_act when absent
    double weight_shift = 0;                   ///< of every norm
};

[[nodiscard]] Architecture llama_like(Config& config, const LlamaDefaults& defaults);

} // namespace attn::transformer
