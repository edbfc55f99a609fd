#include "attn/transformer/architectures/parts.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace attn::transformer {
namespace {

constexpr std::array<std::pair<std::string_view, Activation>, 9> activations{{
    {"gelu", Activation::gelu},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_python", Activation::gelu},
    {"quick_gelu", Activation::quick_gelu},
    {"relu", Activation::relu},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
}};

[[noreturn]] void refuse(std::string_view key, const std::string& value, std::string_view allowed)
{
    throw Error(ErrorKind::data, key, value, allowed);
}

/// What stands before the keys of a part of rope_parameters.
std::string parameters_of(std::string_view section)
{
    return fmt::format("rope_parameters.{}{}", section, section.empty() ? "" : ".");
}

RopeScaling scaling_of(const std::string& name)
{
    constexpr std::span<const std::string_view> stated = std::span(rope_scaling_names).first<3>(); // a list is no config's
    const auto found = std::ranges::find(stated, name);
    if (found == stated.end()) {
        refuse("rope_type", in_quotes(name), joined(stated) + "; no other scaling of positions is computed here");
    }
    return static_cast<RopeScaling>(found - stated.begin());
}

} // namespace

NormPart named(NormPart norm, std::string_view name)
{
    norm.name = name;
    return norm;
}

Activation activation_of(Config& config, std::string_view key, std::string_view otherwise)
{
    const std::string name = config.text({key}, otherwise);
    const auto found = std::ranges::find(activations, name, &std::pair<std::string_view, Activation>::first);
    if (found == activations.end()) {
        std::vector<std::string_view> names;
        names.reserve(activations.size());
        for (const auto& [known, activation] : activations) {
            names.push_back(known);
        }
        refuse(key, in_quotes(name), joined(names));
    }
    return found->second;
}

Index head_size(Index D, Index H)
{
    if (D % H != 0) {
        refuse("hidden size", std::to_string(D), fmt::format("a multiple of the {} heads", H));
    }
    return D / H;
}

Sizes sizes_of(Config& config, std::optional<Index> d)
{
    Sizes sizes{.D = config.count({hidden_size}),
                .L = config.layers({num_hidden_layers}),
                .H = config.count({num_attention_heads}),
                .inner = config.count({"intermediate_size"}),
                .V = config.count({vocab_size})};
    sizes.H_kv = config.count({"num_key_value_heads"}, sizes.H);
    const std::optional<Index> stated = config.optional_count({"head_dim"}, {});
    sizes.d = stated ? *stated : d.value_or(head_size(sizes.D, sizes.H));
    if (sizes.H % sizes.H_kv != 0) {
        refuse(num_attention_heads, std::to_string(sizes.H), fmt::format("a multiple of the {} key/value heads", sizes.H_kv));
    }
    return sizes;
}

LayerStyle style_of(Config& config, double epsilon, std::string_view activation)
{
    return {.norm = {.epsilon = config.positive({layer_norm_eps}, epsilon)},
            .activation = activation_of(config, hidden_act, activation)};
}

std::vector<LayerPart> layers_of(const LayerNames& names, const Sizes& s, const LayerStyle& style)
{
    std::vector<LayerPart> layers;
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = fmt::format("{}{}.", names.layers, l);
        const auto norm = [&](std::string_view name) {
            return name.empty() ? std::nullopt : std::optional(named(style.norm, at + std::string(name)));
        };
        const auto linear = [&](std::string_view name, Index in, Index out, bool bias) {
            return LinearPart{
                .name = at + std::string(name), .in = in, .out = out, .bias = bias, .input_major = style.input_major};
        };
        const auto attention = [&](std::string_view query, std::string_view key, std::string_view value,
                                   std::string_view output) {
            return AttentionPart{.H = s.H,
                                 .H_kv = s.H_kv,
                                 .d = s.d,
                                 .query = linear(query, s.D, s.H * s.d, style.attention_bias),
                                 .key = linear(key, s.D, s.H_kv * s.d, style.attention_bias),
                                 .value = linear(value, s.D, s.H_kv * s.d, style.attention_bias),
                                 .output = linear(output, s.H * s.d, s.D, style.output_bias),
                                 .query_norm = norm(names.query_norm),
                                 .key_norm = norm(names.key_norm),
                                 .rope = style.rope,
                                 .scale = inverse_root(static_cast<double>(s.d))};
        };
        LayerPart layer{.attention_in = norm(names.attention_in),
                        .attention_out = norm(names.attention_out),
                        .attention_sum = norm(names.attention_sum),
                        .attention = attention(names.query, names.key, names.value, names.output),
                        .mlp_in = norm(names.mlp_in),
                        .mlp_out = norm(names.mlp_out),
                        .mlp_sum = norm(names.mlp_sum),
                        .mlp = {.up = linear(names.up, s.D, s.inner, style.mlp_bias),
                                .down = linear(names.down, s.inner, s.D, style.mlp_bias),
                                .activation = style.activation},
                        .parallel = style.parallel};
        if (names.query == names.key) {
            Index n = 0;
            for (LinearPart* part : {&layer.attention.query, &layer.attention.key, &layer.attention.value}) {
                const Index stored = 3 * part->out;
                part->rows = style.heads_in_turn ? FusedRows{stored, n * s.d, s.d, 3 * s.d} : FusedRows{stored, n * part->out};
                ++n;
            }
        }
        if (!names.cross_query.empty()) {
            layer.cross =
                CrossPart{.in = norm(names.cross_in),
                          .sum = norm(names.cross_sum),
                          .attention = attention(names.cross_query, names.cross_key, names.cross_value, names.cross_output)};
        }
        if (!names.gate.empty()) {
            layer.mlp.gate = linear(names.gate, s.D, s.inner, style.mlp_bias);
        }
        if (names.gate == names.up) {
            layer.mlp.gate->rows = {.stored = 2 * s.inner, .first = 0};
            layer.mlp.up.rows = {.stored = 2 * s.inner, .first = s.inner};
        }
        layers.push_back(std::move(layer));
    }
    return layers;
}

RopePart rope_of(Config& config, Index d, const RopeDefaults& defaults, std::string_view section)
{
    const auto key = [now = parameters_of(section)](std::string_view name) { return now + std::string(name); };
    const auto of_scaling = [&](std::string_view name, double otherwise) {
        return config.positive({key(name), "rope_scaling." + std::string(name)}, otherwise);
    };
    RopePart rope;
    rope.base = config.positive({key("rope_theta"), "rope_theta", "rotary_emb_base"}, defaults.base);
    const double share = config.positive({key("partial_rotary_factor"), "partial_rotary_factor", "rotary_pct"}, defaults.share);
    rope.dim = static_cast<Index>(static_cast<double>(d) * share);
    if (share > 1 || rope.dim < 1 || rope.dim + rope.dim % 2 > d) {
        refuse("rotary numbers of a head", std::to_string(rope.dim), fmt::format("1 to {}, in pairs", d));
    }
    rope.scaling = scaling_of(config.text({key("rope_type"), key("type"), "rope_scaling.rope_type", "rope_scaling.type"},
                                          rope_scaling_names.front()));
    if (rope.scaling != RopeScaling::none) {
        rope.factor = config.positive({key("factor"), "rope_scaling.factor"});
    }
    if (rope.scaling == RopeScaling::llama3) {
        rope.low = of_scaling("low_freq_factor", 1);
        rope.high = of_scaling("high_freq_factor", 4);
        rope.original = of_scaling("original_max_position_embeddings", 8192);
    }
    return rope;
}

RopePart unscaled_rope(Config& config, std::string_view section, std::string_view before, double base)
{
    const std::string now = parameters_of(section);
    config.require(now + "rope_type", std::string(rope_scaling_names.front()));
    return {.base = config.positive({now + "rope_theta", before}, base)};
}

std::vector<bool> sliding_layers(Config& config, Index L, const std::function<bool(Index)>& otherwise)
{
    constexpr std::string_view key = "layer_types";
    const std::vector<std::string> types = config.texts({key});
    if (!types.empty() && static_cast<Index>(types.size()) != L) {
        refuse(key, fmt::format("a list of {}", types.size()), fmt::format("{} words, one for each layer", L));
    }
    std::vector<bool> sliding;
    for (const std::string& type : types) {
        if (type != full_attention && type != sliding_attention) {
            refuse(key, in_quotes(type), fmt::format("{}, {}", full_attention, sliding_attention));
        }
        sliding.push_back(type == sliding_attention);
    }
    for (Index l = std::ssize(sliding); l < L; ++l) {
        sliding.push_back(otherwise(l));
    }
    return sliding;
}

std::optional<Index> sliding_window(Config& config)
{
    return config.optional_count({"sliding_window"}, 4096);
}

void set_windows(Architecture& a, std::optional<Index> keys, const std::vector<bool>& sliding)
{
    for (std::size_t l = 0; keys && l < a.layers.size(); ++l) {
        if (sliding[l]) {
            a.layers[l].attention.window = WindowPart{.left = *keys - 1};
        }
    }
}

Tied tied_of(Config& config)
{
    const std::optional<bool> tied = config.optional_flag({"tie_word_embeddings"});
    return !tied ? Tied::unless_there : *tied ? Tied::yes : Tied::no;
}

HeadPart encoder_head(Config& config, const Architecture& a, const HeadNames& names)
{
    return {.transform = LinearPart{.name = std::string(names.transform), .in = a.D, .out = a.D},
            .norm = named(*a.embedding.norm, names.norm),
            .words = std::string(names.words),
            .tied = tied_of(config),
            .bias = std::string(names.bias),
            .sign = std::string(names.bias)};
}

double inverse_root(double d)
{
    return 1 / std::sqrt(d);
}

} // namespace attn::transformer
