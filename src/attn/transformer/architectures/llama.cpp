// Llama and its kin: RMS norms in front, rotary positions, query heads that share keys and values, a gate in the MLP. Each of
// the kin is Llama with a difference or two. (Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models";
// Jiang et al. 2023, "Mistral 7B"; the Qwen 2, Qwen 3 and OLMo 2 technical reports; SmolLM3's published config.)
#include "attn/transformer/architectures/llama.hpp"
#include "attn/tensor/error.hpp"
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace attn::transformer {
namespace {

/// The window of the layers that have one; `keys` are the query's own and those before it.
void set_windows(Architecture& a, std::optional<Index> keys, const std::vector<bool>& sliding)
{
    for (std::size_t l = 0; keys && l < a.layers.size(); ++l) {
        if (sliding[l]) {
            a.layers[l].attention.window = window_back(*keys);
        }
    }
}

/// Of the Qwen models: only with use_sliding_window, and then in the layers from max_window_layers on.
void set_qwen_windows(Config& config, Architecture& a)
{
    const bool used = config.flag({"use_sliding_window"}, false);
    const std::optional<Index> keys = config.optional_count({"sliding_window"}, 4096);
    const Index first = config.place({"max_window_layers"}, 28);
    const auto L = static_cast<Index>(a.layers.size());
    set_windows(a, used ? keys : std::nullopt, sliding_layers(config, L, [&](Index l) { return l >= first; }));
}

/// A norm of each head, or of all at once.
void add_head_norms(Architecture& a, bool of_all_heads)
{
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        AttentionPart& attention = a.layers[l].attention;
        const std::string at = layer_name("layers.", static_cast<Index>(l)) + "self_attn.";
        attention.query_norm = attention.key_norm = a.final_norm;
        attention.query_norm->name = at + "q_norm";
        attention.key_norm->name = at + "k_norm";
        attention.norm_all_heads = of_all_heads;
    }
}

} // namespace

Architecture llama_like(Config& config, const LlamaDefaults& defaults)
{
    Sizes s = sizes_of(config);
    if (defaults.head_dim && !config.has({"head_dim"})) {
        s.d = *defaults.head_dim;
    }
    const double epsilon = config.positive({"rms_norm_eps"}, defaults.epsilon);
    const NormPart norm{.epsilon = epsilon, .kind = NormKind::rms, .weight_shift = defaults.weight_shift};
    const auto named = [&](std::string name) {
        NormPart part = norm;
        part.name = std::move(name);
        return part;
    };
    const Activation activation = defaults.activation ? *defaults.activation : activation_of(config, {"hidden_act"}, "silu");
    const bool attention_bias = config.flag({"attention_bias"}, false);
    const bool mlp_bias = config.flag({"mlp_bias"}, false);
    config.require("rope_interleaved", false);
    config.require("use_mrope", false);
    Architecture a{.D = s.D, .causal = true, .most_tokens = config.count({"max_position_embeddings"}, 2048)};
    a.embedding = {.words = "embed_tokens", .V = s.V, .size = s.D};
    const std::optional<RopePart> rope =
        defaults.rope ? std::optional(rope_of(config, s.d, {.base = *defaults.rope})) : std::nullopt;
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = layer_name("layers.", l);
        LayerPart layer;
        layer.attention_in = named(at + "input_layernorm");
        layer.attention = {.H = s.H,
                           .H_kv = s.H_kv,
                           .d = s.d,
                           .query = linear(at + "self_attn.q_proj", s.D, s.H * s.d, attention_bias),
                           .key = linear(at + "self_attn.k_proj", s.D, s.H_kv * s.d, attention_bias),
                           .value = linear(at + "self_attn.v_proj", s.D, s.H_kv * s.d, attention_bias),
                           .output = linear(at + "self_attn.o_proj", s.H * s.d, s.D, attention_bias),
                           .rope = rope,
                           .scale = inverse_root(static_cast<double>(s.d))};
        layer.mlp_in = named(at + "post_attention_layernorm");
        layer.mlp = {.up = linear(at + "mlp.up_proj", s.D, s.inner, mlp_bias),
                     .gate = linear(at + "mlp.gate_proj", s.D, s.inner, mlp_bias),
                     .down = linear(at + "mlp.down_proj", s.inner, s.D, mlp_bias),
                     .activation = activation};
        a.layers.push_back(std::move(layer));
    }
    a.final_norm = named("norm");
    a.head = HeadPart{.words = "lm_head", .tied = tied_of(config)};
    a.prefixes = {"model."};
    return a;
}

Architecture describe_llama(Config& config)
{
    return llama_like(config, {});
}

Architecture describe_mistral(Config& config)
{
    Architecture a = llama_like(config, {});
    set_windows(a, config.optional_count({"sliding_window"}, 4096), std::vector<bool>(a.layers.size(), true));
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
    Architecture a = llama_like(config, {.head_dim = 128});
    add_head_norms(a, false);
    set_qwen_windows(config, a);
    return a;
}

Architecture describe_smollm3(Config& config)
{
    Architecture a = llama_like(config, {.rope = 2e6});
    const std::vector<Index> turned = config.places({"no_rope_layers"}); // 1: a layer with rotary positions
    const Index interval = config.count({"no_rope_layer_interval"}, 4);
    const auto L = static_cast<Index>(a.layers.size());
    if (!turned.empty() && static_cast<Index>(turned.size()) != L) {
        throw Error(ErrorKind::data, "no_rope_layers", fmt::format("a list of {}", turned.size()),
                    fmt::format("{} numbers, one for each layer", L));
    }
    for (Index l = 0; l < L; ++l) {
        const bool turns = turned.empty() ? (l + 1) % interval != 0 : turned[static_cast<std::size_t>(l)] != 0;
        if (!turns) {
            a.layers[static_cast<std::size_t>(l)].attention.rope.reset();
        }
    }
    set_qwen_windows(config, a);
    return a;
}

Architecture describe_olmo2(Config& config)
{
    Architecture a = llama_like(config, {.epsilon = 1e-5});
    add_head_norms(a, true);
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        LayerPart& layer = a.layers[l];
        layer.attention_out = std::exchange(layer.mlp_in, std::nullopt); // post_attention_layernorm
        layer.mlp_out = std::exchange(layer.attention_in, std::nullopt);
        layer.mlp_out->name = layer_name("layers.", static_cast<Index>(l)) + "post_feedforward_layernorm";
    }
    return a;
}

} // namespace attn::transformer
