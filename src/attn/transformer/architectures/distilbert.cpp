// DistilBERT: BERT with other names, without token types. (Sanh et al. 2019, "DistilBERT, a distilled version of BERT".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_distilbert(Config& config)
{
    Sizes s{.D = config.count({"dim"}), .L = config.layers({"n_layers"}), .H = config.count({"n_heads"})};
    s.H_kv = s.H;
    s.d = head_size(s.D, s.H);
    require_sizes(s);
    s.inner = config.count({"hidden_dim"});
    const Activation activation = activation_of(config, {"activation"}, "gelu");
    constexpr double epsilon = 1e-12;                           // no key says so
    config.pass_over({"sinusoidal_pos_embds", "tie_weights_"}); // the table of positions is stored in any case
    Architecture a{.D = s.D, .most_tokens = config.count({"max_position_embeddings"}, 512)};
    a.embedding = {.words = "embeddings.word_embeddings",
                   .V = config.count({"vocab_size"}),
                   .size = s.D,
                   .positions = "embeddings.position_embeddings",
                   .position_rows = a.most_tokens,
                   .norm = NormPart{"embeddings.LayerNorm", epsilon}};
    constexpr PostNormNames names{.query = "attention.q_lin",
                                  .key = "attention.k_lin",
                                  .value = "attention.v_lin",
                                  .output = "attention.out_lin",
                                  .attention_norm = "sa_layer_norm",
                                  .up = "ffn.lin1",
                                  .down = "ffn.lin2",
                                  .mlp_norm = "output_layer_norm"};
    for (Index l = 0; l < s.L; ++l) {
        a.layers.push_back(post_norm_layer(layer_name("transformer.layer.", l), names, s, {epsilon, activation}));
    }
    a.head = HeadPart{.transform = linear("vocab_transform", s.D, s.D),
                      .activation = activation,
                      .norm = NormPart{"vocab_layer_norm", epsilon},
                      .words = "vocab_projector",
                      .tied = tied_of(config),
                      .bias = "vocab_projector.bias",
                      .sign = "vocab_projector.bias"};
    a.prefixes = {"distilbert."};
    return a;
}

} // namespace attn::transformer
