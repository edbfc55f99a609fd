// Gemma 1 to 3: Llama with embeddings times √D and norms by 1 + w; from 2 on with norms on both sides, every other layer (in 3
// five of six) with a window, scores capped (in 2) or heads normalised (in 3). (Gemma Team 2024 and 2025, "Gemma", "Gemma 2:
// Improving Open Language Models at a Practical Size", "Gemma 3 Technical Report".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/llama.hpp"
#include "attn/transformer/architectures/parts.hpp"

#include <cmath>

namespace attn::transformer {
namespace {

Architecture gemma_like(Config& config, std::optional<Activation> activation, std::optional<double> rope)
{
    Architecture a = llama_like(config, {.head_dim = 256, .rope = rope, .activation = activation, .weight_shift = 1});
    a.embedding.scale = std::sqrt(static_cast<double>(a.D));
    return a;
}

/// Norms on both sides of attention and MLP, another scale, and windows in some layers.
void make_second(Config& config, Architecture& a, const std::vector<bool>& sliding)
{
    const double scale = inverse_root(config.positive({"query_pre_attn_scalar"}, 256));
    const std::optional<Index> keys = config.optional_count({"sliding_window"}, 4096);
    config.require("use_bidirectional_attention", false);
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        LayerPart& layer = a.layers[l];
        const std::string at = layer_name("layers.", static_cast<Index>(l));
        layer.attention_out = layer.mlp_out = layer.mlp_in; // post_attention_layernorm
        layer.mlp_in->name = at + "pre_feedforward_layernorm";
        layer.mlp_out->name = at + "post_feedforward_layernorm";
        layer.attention.scale = scale;
        if (keys && sliding[l]) {
            layer.attention.window = window_back(*keys);
        }
    }
}

} // namespace

Architecture describe_gemma(Config& config)
{
    config.pass_over({"hidden_act", "hidden_activation"}); // whatever they say
    return gemma_like(config, Activation::gelu_tanh, 10000);
}

Architecture describe_gemma2(Config& config)
{
    const Activation activation = activation_of(config, {"hidden_activation"}, "gelu_pytorch_tanh");
    config.pass_over({"hidden_act"}); // of the two it is not this one that counts
    Architecture a = gemma_like(config, activation, 10000);
    const auto L = static_cast<Index>(a.layers.size());
    make_second(config, a, sliding_layers(config, L, [](Index l) { return l % 2 == 0; }));
    const std::optional<double> cap = config.optional_positive({"attn_logit_softcapping"}, 50);
    for (LayerPart& layer : a.layers) {
        layer.attention.softcap = cap;
    }
    a.head->softcap = config.optional_positive({"final_logit_softcapping"}, 30);
    return a;
}

Architecture describe_gemma3(Config& config)
{
    const Activation activation = activation_of(config, {"hidden_activation"}, "gelu_pytorch_tanh");
    Architecture a = gemma_like(config, activation, {});
    const Index pattern = config.count({"sliding_window_pattern", "_sliding_window_pattern"}, 6);
    const auto L = static_cast<Index>(a.layers.size());
    const std::vector<bool> sliding = sliding_layers(config, L, [&](Index l) { return (l + 1) % pattern != 0; });
    make_second(config, a, sliding);
    const Index d = a.layers.front().attention.d;
    const RopePart full = rope_of(config, d, {.base = 1e6}, ".full_attention");
    RopePart local{.base = config.positive({"rope_parameters.sliding_attention.rope_theta", "rope_local_base_freq"}, 10000),
                   .dim = full.dim};
    config.require("rope_parameters.sliding_attention.rope_type", "default");
    const std::optional<double> cap = config.optional_positive({"attn_logit_softcapping"}, {});
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        AttentionPart& attention = a.layers[l].attention;
        attention.rope = sliding[l] ? local : full;
        attention.softcap = cap;
        attention.query_norm = attention.key_norm = a.final_norm;
        attention.query_norm->name = layer_name("layers.", static_cast<Index>(l)) + "self_attn.q_norm";
        attention.key_norm->name = layer_name("layers.", static_cast<Index>(l)) + "self_attn.k_norm";
    }
    a.head->softcap = config.optional_positive({"final_logit_softcapping"}, {});
    a.prefixes = {"model.", "language_model.model.", "model.language_model."};
    a.passed_over = {"vision_tower.*", "multi_modal_projector.*", "model.vision_tower.*", "model.multi_modal_projector.*"};
    return a;
}

} // namespace attn::transformer
