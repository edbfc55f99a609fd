// The model that tutorials build by hand: blocks of attention and MLP with residuals and layer norms, learned positions.
// norm_first: whether norms stand in front of a part, as in GPT-2, or behind each sum, as in the first paper.
// (Vaswani et al. 2017, "Attention Is All You Need".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_tutorial(Config& config)
{
    const Sizes s = sizes_of(config);
    const double epsilon = config.positive({"layer_norm_eps"}, 1e-5);
    const Activation activation = activation_of(config, {"hidden_act"}, "gelu");
    const bool norm_first = config.flag({"norm_first"}, true);
    const bool attention_bias = config.flag({"attention_bias"}, true); // of queries, keys and values
    const bool output_bias = config.flag({"attention_output_bias"}, true);
    const bool mlp_bias = config.flag({"mlp_bias"}, true);
    Architecture a{
        .D = s.D, .causal = config.flag({"causal"}, true), .most_tokens = config.count({"max_position_embeddings"}, 1024)};
    a.embedding = {.words = "words", .V = s.V, .size = s.D};
    if (config.flag({"learned_positions"}, true)) {
        a.embedding.positions = "positions";
        a.embedding.position_rows = a.most_tokens;
    }
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = layer_name("layers.", l);
        LayerPart layer;
        layer.attention = {.H = s.H,
                           .H_kv = s.H_kv,
                           .d = s.d,
                           .query = linear(at + "query", s.D, s.H * s.d, attention_bias),
                           .key = linear(at + "key", s.D, s.H_kv * s.d, attention_bias),
                           .value = linear(at + "value", s.D, s.H_kv * s.d, attention_bias),
                           .output = linear(at + "output", s.H * s.d, s.D, output_bias),
                           .scale = inverse_root(static_cast<double>(s.d))};
        layer.mlp = {.up = linear(at + "up", s.D, s.inner, mlp_bias),
                     .down = linear(at + "down", s.inner, s.D, mlp_bias),
                     .activation = activation};
        (norm_first ? layer.attention_in : layer.attention_sum) = NormPart{at + "attention_norm", epsilon};
        (norm_first ? layer.mlp_in : layer.mlp_sum) = NormPart{at + "mlp_norm", epsilon};
        a.layers.push_back(std::move(layer));
    }
    if (config.flag({"final_norm"}, norm_first)) {
        a.final_norm = NormPart{"norm", epsilon};
    }
    a.head = HeadPart{.words = "head", .tied = config.flag({"tie_word_embeddings"}, false) ? Tied::yes : Tied::no};
    return a;
}

} // namespace attn::transformer
