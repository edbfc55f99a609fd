// The model that tutorials build by hand: blocks of attention and MLP with residuals and layer norms, learned positions.
// norm_first: whether norms stand in front of a part, as in GPT-2, or behind each sum, as in the first paper.
// (Vaswani et al. 2017, "Attention Is All You Need".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_tutorial(Config& config)
{
    const Sizes s = sizes_of(config);
    LayerStyle style = style_of(config, 1e-5, "gelu");
    const bool norm_first = config.flag({"norm_first"}, true);
    style.attention_bias = config.flag({attention_bias}, true);
    style.output_bias = config.flag({"attention_output_bias"}, true);
    style.mlp_bias = config.flag({mlp_bias}, true);
    LayerNames names{
        .layers = "layers.", .query = "query", .key = "key", .value = "value", .output = "output", .up = "up", .down = "down"};
    (norm_first ? names.attention_in : names.attention_sum) = "attention_norm";
    (norm_first ? names.mlp_in : names.mlp_sum) = "mlp_norm";
    Architecture a{
        .D = s.D, .causal = config.flag({"causal"}, true), .most_tokens = config.count({max_position_embeddings}, 1024)};
    a.embedding = {.words = "words", .V = s.V, .size = s.D};
    if (config.flag({"learned_positions"}, true)) {
        a.embedding.positions = "positions";
        a.embedding.position_rows = a.most_tokens;
    }
    a.layers = layers_of(names, s, style);
    if (config.flag({"final_norm"}, norm_first)) {
        a.final_norm = named(style.norm, "norm");
    }
    a.head = HeadPart{.words = "head", .tied = tied_of(config) == Tied::yes ? Tied::yes : Tied::no};
    return a;
}

} // namespace attn::transformer
