// Gemma 1 to 3: Llama with embeddings times √D and norms by 1 + w; from 2 on with norms on both sides, every other layer (in 3
// five of six) with a window, scores capped (in 2) or heads normalised (in 3). (Gemma Team 2024 and 2025, "Gemma", "Gemma 2:
// Improving Open Language Models at a Practical Size", "Gemma 3 Technical Report".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/llama.hpp"
#include "attn/transformer/architectures/parts.hpp"

#include <cmath>
#include <utility>

namespace attn::transformer {
namespace {

constexpr LayerNames second_names = [] {
    LayerNames names = llama_names;
    names.attention_out = std::exchange(names.mlp_in, "pre_feedforward_layernorm");
    names.mlp_out = "post_feedforward_layernorm";
    return names;
}();

Architecture gemma_like(Config& config, LlamaDefaults defaults)
{
    defaults.head_dim = 256;
    defaults.weight_shift = 1;
    Architecture a = llama_like(config, defaults);
    a.embedding.scale = std::sqrt(static_cast<double>(a.D));
    return a;
}

/// Another scale, caps, and windows in some layers.
void make_second(Config& config, Architecture& a, const std::vector<bool>& sliding, std::optional<double> cap,
                 std::optional<double> head_cap)
{
    const double scale = inverse_root(config.positive({"query_pre_attn_scalar"}, 256));
    set_windows(a, sliding_window(config), sliding);
    config.require("use_bidirectional_attention", false);
    cap = config.optional_positive({"attn_logit_softcapping"}, cap);
    for (LayerPart& layer : a.layers) {
        layer.attention.scale = scale;
        layer.attention.softcap = cap;
    }
    a.head->softcap = config.optional_positive({"final_logit_softcapping"}, head_cap);
}

} // namespace

Architecture describe_gemma(Config& config)
{
    config.pass_over({hidden_act, hidden_activation}); // whatever they say
    return gemma_like(config, {.activation = Activation::gelu_tanh});
}

Architecture describe_gemma2(Config& config)
{
    config.pass_over({hidden_act}); // of the two it is not this one that counts
    Architecture a = gemma_like(
        config, {.names = second_names, .activation = activation_of(config, hidden_activation, "gelu_pytorch_tanh")});
    make_second(config, a, sliding_layers(config, std::ssize(a.layers), [](Index l) { return l % 2 == 0; }), 50, 30);
    return a;
}

Architecture describe_gemma3(Config& config)
{
    Architecture a = gemma_like(config, {.names = with_head_norms(second_names),
                                         .rope = {},
                                         .activation = activation_of(config, hidden_activation, "gelu_pytorch_tanh")});
    const Index pattern = config.count({"sliding_window_pattern", "_sliding_window_pattern"}, 6);
    const auto sliding = sliding_layers(config, std::ssize(a.layers), [&](Index l) { return (l + 1) % pattern != 0; });
    make_second(config, a, sliding, {}, {});
    const RopePart full = rope_of(config, a.layers.front().attention.d, {.base = 1e6}, full_attention);
    RopePart local = unscaled_rope(config, sliding_attention, "rope_local_base_freq", 10000);
    local.dim = full.dim;
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        a.layers[l].attention.rope = sliding[l] ? local : full;
    }
    a.prefixes = {"model.", "language_model.model.", "model.language_model."};
    a.passed_over = {"vision_tower.*", "multi_modal_projector.*", "model.vision_tower.*", "model.multi_modal_projector.*"};
    return a;
}

} // namespace attn::transformer
