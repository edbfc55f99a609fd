// Decoders with RMS norms, rotary positions and a gate in the MLP: Llama and its kin, Gemma.
#include "attn/tensor/error.hpp"
#include "attn/transformer/architectures/parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

namespace attn::transformer {

// Llama and its kin: RMS norms in front, rotary positions, query heads that share keys and values, a gate in the MLP. Each of
// the kin is Llama with a difference or two. (Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models";
// Jiang et al. 2023, "Mistral 7B"; the Qwen 2, Qwen 3 and OLMo 2 technical reports; SmolLM3's published config.)

namespace {

constexpr LayerNames llama_names{.layers = "layers.",
                                 .attention_in = "input_layernorm",
                                 .query = "self_attn.q_proj",
                                 .key = "self_attn.k_proj",
                                 .value = "self_attn.v_proj",
                                 .output = "self_attn.o_proj",
                                 .mlp_in = "post_attention_layernorm",
                                 .gate = "mlp.gate_proj",
                                 .up = "mlp.up_proj",
                                 .down = "mlp.down_proj"};

constexpr LayerNames with_head_norms(LayerNames names)
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

/// Of the Qwen models: only with use_sliding_window, and then in the layers from max_window_layers on.
void set_qwen_windows(Config& config, Architecture& a)
{
    const bool used = config.flag({"use_sliding_window"}, false);
    const std::optional<Index> keys = sliding_window(config);
    const Index first = config.place({"max_window_layers"}, 28);
    const auto sliding = sliding_layers(config, std::ssize(a.layers), [&](Index l) { return l >= first; });
    set_windows(a, used ? keys : std::nullopt, sliding);
}

Architecture llama_like(Config& config, const LlamaDefaults& defaults)
{
    const Sizes s = sizes_of(config, defaults.head_dim);
    LayerStyle style{.norm = {.epsilon = config.positive({"rms_norm_eps"}, defaults.epsilon),
                              .kind = NormKind::rms,
                              .weight_shift = defaults.weight_shift}};
    style.activation = defaults.activation ? *defaults.activation : activation_of(config, hidden_act, "silu");
    style.attention_bias = style.output_bias = config.flag({attention_bias}, false);
    style.mlp_bias = config.flag({mlp_bias}, false);
    config.require("rope_interleaved", false);
    config.require("use_mrope", false);
    const Index places = config.count({max_position_embeddings}, 2048);
    if (defaults.rope) {
        style.rope = rope_of(config, s.d, {.base = *defaults.rope});
    }
    return {.D = s.D,
            .causal = true,
            .most_tokens = places,
            .embedding = {.words = "embed_tokens", .V = s.V, .size = s.D},
            .layers = layers_of(defaults.names, s, style),
            .final_norm = named(style.norm, "norm"),
            .head = HeadPart{.words = "lm_head", .tied = tied_of(config)},
            .prefixes = {"model."}};
}

} // namespace

Architecture describe_llama(Config& config)
{
    return llama_like(config, {});
}

Architecture describe_mistral(Config& config)
{
    Architecture a = llama_like(config, {});
    set_windows(a, sliding_window(config), std::vector<bool>(a.layers.size(), true));
    return a;
}

Architecture describe_qwen2(Config& config)
{
    Architecture a = llama_like(config, {});
    for (LayerPart& layer : a.layers) {
        layer.attention.query.bias = layer.attention.key.bias = layer.attention.value.bias = true;
    }
    set_qwen_windows(config, a);
    return a;
}

Architecture describe_qwen3(Config& config)
{
    Architecture a = llama_like(config, {.names = with_head_norms(llama_names), .head_dim = 128});
    set_qwen_windows(config, a);
    return a;
}

Architecture describe_smollm3(Config& config)
{
    Architecture a = llama_like(config, {.rope = 2e6});
    constexpr std::string_view key = "no_rope_layers";
    const std::vector<Index> turned = config.places({key}); // 1: a layer with rotary positions
    const Index interval = config.count({"no_rope_layer_interval"}, 4);
    if (!turned.empty() && turned.size() != a.layers.size()) {
        throw Error(ErrorKind::data, key, fmt::format("a list of {}", turned.size()),
                    fmt::format("{} numbers, one for each layer", a.layers.size()));
    }
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        const bool turns = turned.empty() ? (static_cast<Index>(l) + 1) % interval != 0 : turned[l] != 0;
        if (!turns) {
            a.layers[l].attention.rope.reset();
        }
    }
    set_qwen_windows(config, a);
    return a;
}

Architecture describe_olmo2(Config& config)
{
    LayerNames names = with_head_norms(llama_names);
    names.attention_out = std::exchange(names.mlp_in, "");
    names.attention_in = "";
    names.mlp_out = "post_feedforward_layernorm";
    Architecture a = llama_like(config, {.names = names, .epsilon = 1e-5});
    for (LayerPart& layer : a.layers) {
        layer.attention.norm_all_heads = true;
    }
    return a;
}

// Gemma 1 to 3: Llama with embeddings times √D and norms by 1 + w; from 2 on with norms on both sides, every other layer (in 3
// five of six) with a window, scores capped (in 2) or heads normalised (in 3). (Gemma Team 2024 and 2025, "Gemma", "Gemma 2:
// Improving Open Language Models at a Practical Size", "Gemma 3 Technical Report".)

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
