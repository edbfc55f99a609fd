// ModernBERT: an encoder with rotary positions, norms in front (layer 0 has none before its attention), a gate in the MLP, and
// windows to both sides in two of three layers. (Warner et al. 2024, "Smarter, Better, Faster, Longer: A Modern Bidirectional
// Encoder".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {
namespace {

/// What the layers have in common.
struct Common {
    Sizes s;
    NormPart norm; ///< without its name
    Activation activation;
    bool attention_bias, mlp_bias;
};

NormPart named(NormPart norm, std::string name)
{
    norm.name = std::move(name);
    return norm;
}

/// Part n of `parts` that are stored one behind the other.
LinearPart part_of(LinearPart fused, Index n, Index parts)
{
    fused.rows = {.stored = parts * fused.out, .first = n * fused.out};
    return fused;
}

LayerPart layer_of(const Common& common, Index l, const RopePart& rope)
{
    const Sizes& s = common.s;
    const std::string at = layer_name("layers.", l);
    const LinearPart qkv = linear(at + "attn.Wqkv", s.D, s.D, common.attention_bias);
    const LinearPart gated = linear(at + "mlp.Wi", s.D, s.inner, common.mlp_bias);
    LayerPart layer;
    if (l > 0) {
        layer.attention_in = named(common.norm, at + "attn_norm");
    }
    layer.attention = {.H = s.H,
                       .H_kv = s.H,
                       .d = s.d,
                       .query = part_of(qkv, 0, 3),
                       .key = part_of(qkv, 1, 3),
                       .value = part_of(qkv, 2, 3),
                       .output = linear(at + "attn.Wo", s.D, s.D, common.attention_bias),
                       .rope = rope,
                       .scale = inverse_root(static_cast<double>(s.d))};
    layer.mlp_in = named(common.norm, at + "mlp_norm");
    layer.mlp = {.up = part_of(gated, 1, 2),
                 .gate = part_of(gated, 0, 2),
                 .down = linear(at + "mlp.Wo", s.inner, s.D, common.mlp_bias),
                 .activation = common.activation};
    return layer;
}

} // namespace

Architecture describe_modernbert(Config& config)
{
    const NormPart norm{.epsilon = config.positive({"norm_eps"}, 1e-5), .bias = config.flag({"norm_bias"}, false)};
    const Common common{.s = sizes_of(config),
                        .norm = norm,
                        .activation = activation_of(config, {"hidden_activation"}, "gelu"),
                        .attention_bias = config.flag({"attention_bias"}, false),
                        .mlp_bias = config.flag({"mlp_bias"}, false)};
    const Sizes& s = common.s;
    const Index half = config.count({"local_attention"}, 128) / 2;
    const Index every = config.count({"global_attn_every_n_layers"}, 3);
    const std::vector<bool> local = sliding_layers(config, s.L, [&](Index l) { return l % every != 0; });
    const auto rope = [&](const std::string& now, std::string_view before, double base) {
        config.require("rope_parameters." + now + ".rope_type", "default");
        return RopePart{.base = config.positive({"rope_parameters." + now + ".rope_theta", before}, base), .dim = s.d};
    };
    const RopePart of_full = rope("full_attention", "global_rope_theta", 160000);
    const RopePart of_local = rope("sliding_attention", "local_rope_theta", 10000);
    config.pass_over({"decoder_bias", "deterministic_flash_attn", "reference_compile", "repad_logits_with_grad",
                      "position_embedding_type", "layer_norm_eps"});
    Architecture a{.D = s.D, .most_tokens = config.count({"max_position_embeddings"}, 8192)};
    a.embedding = {.words = "embeddings.tok_embeddings", .V = s.V, .size = s.D, .norm = named(norm, "embeddings.norm")};
    for (Index l = 0; l < s.L; ++l) {
        const bool is_local = local[static_cast<std::size_t>(l)];
        a.layers.push_back(layer_of(common, l, is_local ? of_local : of_full));
        if (is_local) {
            a.layers.back().attention.window = WindowPart{half, half};
        }
    }
    a.final_norm = named(norm, "final_norm");
    a.head = HeadPart{.transform = linear("head.dense", s.D, s.D, config.flag({"classifier_bias"}, false)),
                      .activation = activation_of(config, {"classifier_activation"}, "gelu"),
                      .norm = named(norm, "head.norm"),
                      .words = "decoder",
                      .tied = tied_of(config),
                      .bias = "decoder.bias",
                      .sign = "decoder.bias"};
    a.prefixes = {"model."};
    a.passed_over = {"head.*"};
    return a;
}

} // namespace attn::transformer
