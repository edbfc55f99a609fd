// Llama and its kin: RMS norms in front, rotary positions, query heads that share keys and values, a gate in the MLP. Each of
// the kin is Llama with a difference or two. (Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models";
// Jiang et al. 2023, "Mistral 7B"; the Qwen 2, Qwen 3 and OLMo 2 technical reports; SmolLM3's published config.)
#include "attn/transformer/architectures/llama.hpp"
#include "attn/tensor/error.hpp"
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace attn::transformer {
namespace {

/// Of the Qwen models: only with use_sliding_window, and then in the layers from max_window_layers on.
void set_qwen_windows(Config& config, Architecture& a)
{
    const bool used = config.flag({"use_sliding_window"}, false);
    const std::optional<Index> keys = sliding_window(config);
    const Index first = config.place({"max_window_layers"}, 28);
    const auto sliding = sliding_layers(config, std::ssize(a.layers), [&](Index l) { return l >= first; });
    set_windows(a, used ? keys : std::nullopt, sliding);
}

} // namespace

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

} // namespace attn::transformer
