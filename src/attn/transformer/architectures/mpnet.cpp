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
    constexpr PostNormNames names{.query = "attention.attn.q",
                                  .key = "attention.attn.k",
                                  .value = "attention.attn.v",
                                  .output = "attention.attn.o",
                                  .attention_norm = "attention.LayerNorm",
                                  .up = "intermediate.dense",
                                  .down = "output.dense",
                                  .mlp_norm = "output.LayerNorm"};
    for (Index l = 0; l < s.L; ++l) {
        a.layers.push_back(post_norm_layer(layer_name("encoder.layer.", l), names, s, {epsilon, activation}));
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
