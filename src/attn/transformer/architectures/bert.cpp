// BERT and what was trained in its shape: RoBERTa, XLM-R, CamemBERT. Norms come after the sums; all linear layers have biases.
// (Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers"; Liu et al. 2019, "RoBERTa".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {
namespace {

Architecture encoder(Config& config)
{
    const Sizes s = sizes_of(config);
    const double epsilon = config.positive({"layer_norm_eps"}, 1e-12);
    const Activation activation = activation_of(config, {"hidden_act"}, "gelu");
    config.require("position_embedding_type", "absolute");
    Architecture a{.D = s.D, .most_tokens = config.count({"max_position_embeddings"}, 512)};
    a.embedding = {.words = "embeddings.word_embeddings",
                   .V = s.V,
                   .size = s.D,
                   .positions = "embeddings.position_embeddings",
                   .position_rows = a.most_tokens,
                   .types = "embeddings.token_type_embeddings",
                   .type_rows = config.count({"type_vocab_size"}, 2),
                   .norm = NormPart{"embeddings.LayerNorm", epsilon}};
    constexpr PostNormNames names{.query = "attention.self.query",
                                  .key = "attention.self.key",
                                  .value = "attention.self.value",
                                  .output = "attention.output.dense",
                                  .attention_norm = "attention.output.LayerNorm",
                                  .up = "intermediate.dense",
                                  .down = "output.dense",
                                  .mlp_norm = "output.LayerNorm"};
    for (Index l = 0; l < s.L; ++l) {
        a.layers.push_back(post_norm_layer(layer_name("encoder.layer.", l), names, s, {epsilon, activation}));
    }
    return a;
}

} // namespace

Architecture describe_bert(Config& config)
{
    Architecture a = encoder(config);
    const NormPart& norm = *a.embedding.norm;
    a.head = HeadPart{.transform = linear("cls.predictions.transform.dense", a.D, a.D),
                      .activation = a.layers.front().mlp.activation,
                      .norm = NormPart{"cls.predictions.transform.LayerNorm", norm.epsilon},
                      .words = "cls.predictions.decoder",
                      .tied = tied_of(config),
                      .bias = "cls.predictions.bias",
                      .sign = "cls.predictions.bias"};
    a.prefixes = {"bert."};
    a.passed_over = {"cls.predictions.decoder.bias", "cls.seq_relationship.*"};
    return a;
}

Architecture describe_roberta(Config& config)
{
    Architecture a = encoder(config);
    const Index padding = config.place({"pad_token_id"}, 1);
    a.embedding.padding = padding;
    a.most_tokens = places_behind(padding, a.embedding.position_rows);
    a.head = HeadPart{.transform = linear("lm_head.dense", a.D, a.D),
                      .activation = Activation::gelu, // whatever hidden_act says
                      .norm = NormPart{"lm_head.layer_norm", a.embedding.norm->epsilon},
                      .words = "lm_head.decoder",
                      .tied = tied_of(config),
                      .bias = "lm_head.bias",
                      .sign = "lm_head.bias"};
    a.prefixes = {"roberta."};
    a.passed_over = {"lm_head.decoder.bias"};
    return a;
}

} // namespace attn::transformer
