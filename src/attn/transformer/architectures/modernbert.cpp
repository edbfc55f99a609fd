// ModernBERT: an encoder with rotary positions, norms in front (layer 0 has none before its attention), a gate in the MLP, and
// windows to both sides in two of three layers. (Warner et al. 2024, "Smarter, Better, Faster, Longer: A Modern Bidirectional
// Encoder".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_modernbert(Config& config)
{
    const Sizes s = sizes_of(config);
    const bool norm_bias = config.flag({"norm_bias"}, false);
    const double epsilon = config.positive({"norm_eps"}, 1e-5);
    const auto norm = [&](std::string name) {
        return NormPart{.name = std::move(name), .epsilon = epsilon, .bias = norm_bias};
    };
    const Activation activation = activation_of(config, {"hidden_activation"}, "gelu");
    const bool attention_bias = config.flag({"attention_bias"}, false), mlp_bias = config.flag({"mlp_bias"}, false);
    const Index half = config.count({"local_attention"}, 128) / 2;
    const Index every = config.count({"global_attn_every_n_layers"}, 3);
    const std::vector<bool> local = sliding_layers(config, s.L, [&](Index l) { return l % every != 0; });
    const auto rope = [&](std::string_view now, std::string_view before, double base) {
        const std::string type = "rope_parameters." + std::string(now);
        config.require(type + ".rope_type", "default");
        return RopePart{.base = config.positive({type + ".rope_theta", before}, base), .dim = s.d};
    };
    const RopePart of_full = rope("full_attention", "global_rope_theta", 160000);
    const RopePart of_local = rope("sliding_attention", "local_rope_theta", 10000);
    config.pass_over({"decoder_bias", "deterministic_flash_attn", "reference_compile", "repad_logits_with_grad",
                      "position_embedding_type", "layer_norm_eps"});
    Architecture a{.D = s.D, .most_tokens = config.count({"max_position_embeddings"}, 8192)};
    a.embedding = {.words = "embeddings.tok_embeddings", .V = s.V, .size = s.D, .norm = norm("embeddings.norm")};
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = layer_name("layers.", l);
        const bool is_local = local[static_cast<std::size_t>(l)];
        const auto part = [&](const char* name, Index n, Index parts, Index out) {
            const bool bias = parts == 3 ? attention_bias : mlp_bias;
            return LinearPart{at + name, s.D, out, bias, false, {.stored = parts * out, .first = n * out}};
        };
        LayerPart layer;
        layer.attention = {.H = s.H,
                           .H_kv = s.H,
                           .d = s.d,
                           .query = part("attn.Wqkv", 0, 3, s.D),
                           .key = part("attn.Wqkv", 1, 3, s.D),
                           .value = part("attn.Wqkv", 2, 3, s.D),
                           .output = linear(at + "attn.Wo", s.D, s.D, attention_bias),
                           .rope = is_local ? of_local : of_full,
                           .scale = inverse_root(static_cast<double>(s.d))};
        if (is_local) {
            layer.attention.window = WindowPart{half, half};
        }
        if (l > 0) {
            layer.attention_in = norm(at + "attn_norm");
        }
        layer.mlp_in = norm(at + "mlp_norm");
        layer.mlp = {.up = part("mlp.Wi", 1, 2, s.inner),
                     .gate = part("mlp.Wi", 0, 2, s.inner),
                     .down = linear(at + "mlp.Wo", s.inner, s.D, mlp_bias),
                     .activation = activation};
        a.layers.push_back(std::move(layer));
    }
    a.final_norm = norm("final_norm");
    a.head = HeadPart{.transform = LinearPart{"head.dense", s.D, s.D, config.flag({"classifier_bias"}, false)},
                      .activation = activation_of(config, {"classifier_activation"}, "gelu"),
                      .norm = norm("head.norm"),
                      .words = "decoder",
                      .tied = tied_of(config),
                      .bias = "decoder.bias",
                      .sign = "decoder.bias"};
    a.prefixes = {"model."};
    a.passed_over = {"head.*"};
    return a;
}

} // namespace attn::transformer
