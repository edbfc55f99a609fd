#include "attn/transformer/architectures/parts.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/suggest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
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

RopeScaling scaling_of(const std::string& name)
{
    const auto found = std::ranges::find(rope_scaling_names, name);
    if (found == rope_scaling_names.end()) {
        refuse("rope_type", in_quotes(name), joined(rope_scaling_names) + "; no other scaling of positions is computed here");
    }
    return static_cast<RopeScaling>(found - rope_scaling_names.begin());
}

} // namespace

std::string layer_name(std::string_view before, Index layer)
{
    return fmt::format("{}{}.", before, layer);
}

LinearPart linear(std::string name, Index in, Index out, bool bias)
{
    return {.name = std::move(name), .in = in, .out = out, .bias = bias};
}

Activation activation_of(Config& config, Config::Keys keys, std::string_view otherwise)
{
    const std::string name = config.text(keys, otherwise);
    const auto found = std::ranges::find(activations, name, &std::pair<std::string_view, Activation>::first);
    if (found == activations.end()) {
        std::vector<std::string_view> names;
        names.reserve(activations.size());
        for (const auto& [known, activation] : activations) {
            names.push_back(known);
        }
        refuse(*keys.begin(), in_quotes(name), joined(names));
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

void require_sizes(const Sizes& sizes)
{
    if (sizes.H % sizes.H_kv != 0) {
        refuse("num_attention_heads", std::to_string(sizes.H), fmt::format("a multiple of the {} key/value heads", sizes.H_kv));
    }
}

Sizes sizes_of(Config& config)
{
    Sizes sizes{.D = config.count({"hidden_size"}),
                .L = config.layers({"num_hidden_layers"}),
                .H = config.count({"num_attention_heads"}),
                .inner = config.count({"intermediate_size"}),
                .V = config.count({"vocab_size"})};
    sizes.H_kv = config.count({"num_key_value_heads"}, sizes.H);
    const std::optional<Index> d = config.optional_count({"head_dim"}, {});
    sizes.d = d ? *d : head_size(sizes.D, sizes.H);
    require_sizes(sizes);
    return sizes;
}

LayerPart post_norm_layer(const std::string& at, const PostNormNames& names, const Sizes& sizes, const PostNormStyle& style)
{
    const auto name = [&](std::string_view part) { return at + std::string(part); };
    LayerPart layer;
    layer.attention = {.H = sizes.H,
                       .H_kv = sizes.H,
                       .d = sizes.d,
                       .query = linear(name(names.query), sizes.D, sizes.D),
                       .key = linear(name(names.key), sizes.D, sizes.D),
                       .value = linear(name(names.value), sizes.D, sizes.D),
                       .output = linear(name(names.output), sizes.D, sizes.D),
                       .scale = inverse_root(static_cast<double>(sizes.d))};
    layer.attention_sum = NormPart{name(names.attention_norm), style.epsilon};
    layer.mlp = {.up = linear(name(names.up), sizes.D, sizes.inner),
                 .down = linear(name(names.down), sizes.inner, sizes.D),
                 .activation = style.activation};
    layer.mlp_sum = NormPart{name(names.mlp_norm), style.epsilon};
    return layer;
}

RopePart rope_of(Config& config, Index d, const RopeDefaults& defaults, std::string_view section)
{
    const std::string now = "rope_parameters" + std::string(section) + ".";
    const auto key = [&](std::string_view name) { return now + std::string(name); };
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

std::vector<std::string> layer_types(Config& config, Index L)
{
    std::vector<std::string> types = config.texts({"layer_types"});
    if (!types.empty() && static_cast<Index>(types.size()) != L) {
        refuse("layer_types", fmt::format("a list of {}", types.size()), fmt::format("{} words, one for each layer", L));
    }
    for (const std::string& type : types) {
        if (type != "full_attention" && type != "sliding_attention") {
            refuse("layer_types", in_quotes(type), "full_attention, sliding_attention");
        }
    }
    return types;
}

Index places_behind(Index padding, Index rows)
{
    if (rows <= padding + 1) {
        refuse("max_position_embeddings", std::to_string(rows), fmt::format("more than pad_token_id + 1 = {}", padding + 1));
    }
    return rows - padding - 1;
}

Tied tied_of(Config& config)
{
    const std::optional<bool> tied = config.optional_flag({"tie_word_embeddings"});
    return !tied ? Tied::unless_there : *tied ? Tied::yes : Tied::no;
}

double inverse_root(double d)
{
    return 1 / std::sqrt(d);
}

} // namespace attn::transformer
