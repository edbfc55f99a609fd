// MPNet: BERT with relative positions, one table for all layers, and RoBERTa's places. (Song et al. 2020, "MPNet: Masked and
// Permuted Pre-training for Language Understanding".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_mpnet(Config& config)
{
    const Sizes s = sizes_of(config);
    const double epsilon = config.positive({"layer_norm_eps"}, 1e-12);
    const Activation activation = activation_of(config, {"hidden_act"}, "gelu");
    constexpr Index padding = 1; // whatever pad_token_id says
    Architecture a{.D = s.D, .most_tokens = config.count({"max_position_embeddings"}, 512)};
    a.embedding = {.words = "embeddings.word_embeddings",
                   .V = s.V,
                   .size = s.D,
                   .positions = "embeddings.position_embeddings",
                   .position_rows = a.most_tokens,
                   .padding = padding,
                   .norm = NormPart{"embeddings.LayerNorm", epsilon}};
    a.most_tokens = places_behind(padding, a.embedding.position_rows);
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = layer_name("encoder.layer.", l);
        LayerPart layer;
        layer.attention = {.H = s.H,
                           .H_kv = s.H,
                           .d = s.d,
                           .query = linear(at + "attention.attn.q", s.D, s.D),
                           .key = linear(at + "attention.attn.k", s.D, s.D),
                           .value = linear(at + "attention.attn.v", s.D, s.D),
                           .output = linear(at + "attention.attn.o", s.D, s.D),
                           .scale = inverse_root(static_cast<double>(s.d))};
        layer.attention_sum = NormPart{at + "attention.LayerNorm", epsilon};
        layer.mlp = {.up = linear(at + "intermediate.dense", s.D, s.inner),
                     .down = linear(at + "output.dense", s.inner, s.D),
                     .activation = activation};
        layer.mlp_sum = NormPart{at + "output.LayerNorm", epsilon};
        a.layers.push_back(std::move(layer));
    }
    config.require("relative_attention_num_buckets", 32.0);
    a.relative_bias = RelativeBiasPart{"encoder.relative_attention_bias", 32, 128};
    a.head = HeadPart{.transform = linear("lm_head.dense", s.D, s.D),
                      .activation = Activation::gelu, // whatever hidden_act says
                      .norm = NormPart{"lm_head.layer_norm", epsilon},
                      .words = "lm_head.decoder",
                      .tied = tied_of(config),
                      .bias = "lm_head.bias",
                      .sign = "lm_head.bias"};
    a.prefixes = {"mpnet."};
    a.passed_over = {"lm_head.decoder.bias"};
    return a;
}

} // namespace attn::transformer
