// DistilBERT: BERT with other names, without token types. (Sanh et al. 2019, "DistilBERT, a distilled version of BERT".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {

Architecture describe_distilbert(Config& config)
{
    Sizes s{.D = config.count({"dim"}), .L = config.count({"n_layers"}), .H = config.count({"n_heads"})};
    s.H_kv = s.H;
    s.d = head_size(s.D, s.H);
    require_sizes(s);
    const Index inner = config.count({"hidden_dim"});
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
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = layer_name("transformer.layer.", l);
        LayerPart layer;
        layer.attention = {.H = s.H,
                           .H_kv = s.H,
                           .d = s.d,
                           .query = linear(at + "attention.q_lin", s.D, s.D),
                           .key = linear(at + "attention.k_lin", s.D, s.D),
                           .value = linear(at + "attention.v_lin", s.D, s.D),
                           .output = linear(at + "attention.out_lin", s.D, s.D),
                           .scale = inverse_root(static_cast<double>(s.d))};
        layer.attention_sum = NormPart{at + "sa_layer_norm", epsilon};
        layer.mlp = {
            .up = linear(at + "ffn.lin1", s.D, inner), .down = linear(at + "ffn.lin2", inner, s.D), .activation = activation};
        layer.mlp_sum = NormPart{at + "output_layer_norm", epsilon};
        a.layers.push_back(std::move(layer));
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
