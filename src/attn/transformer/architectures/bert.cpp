// Encoders: BERT and its kin, ModernBERT.
#include "attn/tensor/error.hpp"
#include "attn/transformer/architectures/parts.hpp"

#include <fmt/format.h>

namespace attn::transformer {

// BERT and its kin, encoders with learned positions: norms come after the sums; all linear layers have biases. RoBERTa, XLM-R
// and CamemBERT place tokens behind the padding; DistilBERT has no token types; MPNet has RoBERTa's places, and relative
// positions besides, one table for all layers. (Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers";
// Liu et al. 2019, "RoBERTa"; Sanh et al. 2019, "DistilBERT, a distilled version of BERT"; Song et al. 2020, "MPNet: Masked and
// Permuted Pre-training for Language Understanding".)

namespace {

constexpr LayerNames bert_names{.layers = "encoder.layer.",
                                .query = "attention.self.query",
                                .key = "attention.self.key",
                                .value = "attention.self.value",
                                .output = "attention.output.dense",
                                .attention_sum = "attention.output.LayerNorm",
                                .up = "intermediate.dense",
                                .down = "output.dense",
                                .mlp_sum = "output.LayerNorm"};

Architecture encoder(Config& config, const LayerNames& names, const Sizes& s, const LayerStyle& style)
{
    Architecture a{.D = s.D, .most_tokens = config.count({max_position_embeddings}, 512)};
    a.embedding = {.words = "embeddings.word_embeddings",
                   .V = s.V,
                   .size = s.D,
                   .positions = "embeddings.position_embeddings",
                   .position_rows = a.most_tokens,
                   .norm = named(style.norm, "embeddings.LayerNorm")};
    a.layers = layers_of(names, s, style);
    return a;
}

Architecture encoder(Config& config, const LayerNames& names)
{
    Sizes s = sizes_of(config);
    s.H_kv = s.H; // whatever num_key_value_heads says
    return encoder(config, names, s, style_of(config, 1e-12, "gelu"));
}

Architecture with_types(Config& config)
{
    Architecture a = encoder(config, bert_names);
    config.require(position_embedding_type, "absolute");
    a.embedding.types = "embeddings.token_type_embeddings";
    a.embedding.type_rows = config.count({"type_vocab_size"}, 2);
    return a;
}

/// Places begin behind that of the padding. Throws Error(data) when no token has one.
void make_roberta(Config& config, Architecture& a, Index padding)
{
    if (a.most_tokens <= padding + 1) {
        throw Error(ErrorKind::data, max_position_embeddings, std::to_string(a.most_tokens),
                    fmt::format("more than pad_token_id + 1 = {}", padding + 1));
    }
    a.embedding.padding = padding;
    a.most_tokens -= padding + 1;
    a.head = encoder_head(config, a, {"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"});
    a.passed_over = {"lm_head.decoder.bias"};
}

} // namespace

Architecture describe_bert(Config& config)
{
    Architecture a = with_types(config);
    a.head = encoder_head(config, a,
                          {.transform = "cls.predictions.transform.dense",
                           .norm = "cls.predictions.transform.LayerNorm",
                           .words = "cls.predictions.decoder",
                           .bias = "cls.predictions.bias"});
    a.head->activation = a.layers.front().mlp.activation; // with the others gelu, whatever hidden_act says
    a.prefixes = {"bert."};
    a.passed_over = {"cls.predictions.decoder.bias", "cls.seq_relationship.*"};
    return a;
}

Architecture describe_roberta(Config& config)
{
    Architecture a = with_types(config);
    make_roberta(config, a, config.place({"pad_token_id"}, 1));
    a.prefixes = {"roberta."};
    return a;
}

Architecture describe_mpnet(Config& config)
{
    LayerNames names = bert_names;
    names.query = "attention.attn.q";
    names.key = "attention.attn.k";
    names.value = "attention.attn.v";
    names.output = "attention.attn.o";
    names.attention_sum = "attention.LayerNorm";
    Architecture a = encoder(config, names);
    make_roberta(config, a, 1); // whatever pad_token_id says
    config.require("relative_attention_num_buckets", 32.0);
    a.relative_bias = RelativeBiasPart{"encoder.relative_attention_bias", 32, 128};
    a.prefixes = {"mpnet."};
    return a;
}

Architecture describe_distilbert(Config& config)
{
    constexpr LayerNames names{.layers = "transformer.layer.",
                               .query = "attention.q_lin",
                               .key = "attention.k_lin",
                               .value = "attention.v_lin",
                               .output = "attention.out_lin",
                               .attention_sum = "sa_layer_norm",
                               .up = "ffn.lin1",
                               .down = "ffn.lin2",
                               .mlp_sum = "output_layer_norm"};
    Sizes s{.D = config.count({"dim"}), .L = config.layers({"n_layers"}), .H = config.count({"n_heads"})};
    s.H_kv = s.H;
    s.d = head_size(s.D, s.H);
    s.inner = config.count({"hidden_dim"});
    config.pass_over({"sinusoidal_pos_embds", "tie_weights_"}); // the table of positions is stored in any case
    const Activation activation = activation_of(config, "activation", "gelu");
    s.V = config.count({vocab_size});
    Architecture a = encoder(config, names, s, {.norm = {.epsilon = 1e-12}, .activation = activation}); // no key says the ε
    a.head = encoder_head(config, a, {"vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"});
    a.head->activation = activation;
    a.prefixes = {"distilbert."};
    return a;
}

// ModernBERT: an encoder with rotary positions, norms in front (layer 0 has none before its attention), a gate in the MLP, and
// windows to both sides in two of three layers. (Warner et al. 2024, "Smarter, Better, Faster, Longer: A Modern Bidirectional
// Encoder".)

Architecture describe_modernbert(Config& config)
{
    constexpr LayerNames names{.layers = "layers.",
                               .attention_in = "attn_norm",
                               .query = "attn.Wqkv",
                               .key = "attn.Wqkv",
                               .value = "attn.Wqkv",
                               .output = "attn.Wo",
                               .mlp_in = "mlp_norm",
                               .gate = "mlp.Wi",
                               .up = "mlp.Wi",
                               .down = "mlp.Wo"};
    LayerStyle style{.norm = {.epsilon = config.positive({"norm_eps"}, 1e-5), .bias = config.flag({"norm_bias"}, false)}};
    Sizes s = sizes_of(config);
    s.H_kv = s.H; // whatever num_key_value_heads says
    style.activation = activation_of(config, hidden_activation, "gelu");
    style.attention_bias = style.output_bias = config.flag({attention_bias}, false);
    style.mlp_bias = config.flag({mlp_bias}, false);
    const Index half = config.count({"local_attention"}, 128) / 2;
    const Index every = config.count({"global_attn_every_n_layers"}, 3);
    const std::vector<bool> local = sliding_layers(config, s.L, [&](Index l) { return l % every != 0; });
    style.rope = unscaled_rope(config, full_attention, "global_rope_theta", 160000);
    RopePart of_local = unscaled_rope(config, sliding_attention, "local_rope_theta", 10000);
    style.rope->dim = of_local.dim = s.d;
    config.pass_over({"decoder_bias", "deterministic_flash_attn", "reference_compile", "repad_logits_with_grad",
                      position_embedding_type, layer_norm_eps});
    Architecture a{.D = s.D, .most_tokens = config.count({max_position_embeddings}, 8192)};
    a.embedding = {.words = "embeddings.tok_embeddings", .V = s.V, .size = s.D, .norm = named(style.norm, "embeddings.norm")};
    a.layers = layers_of(names, s, style);
    a.layers.front().attention_in.reset();
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
        if (local[l]) {
            a.layers[l].attention.rope = of_local;
            a.layers[l].attention.window = WindowPart{half, half};
        }
    }
    a.final_norm = named(style.norm, "final_norm");
    a.head = encoder_head(config, a, {"head.dense", "head.norm", "decoder", "decoder.bias"});
    a.head->transform->bias = config.flag({"classifier_bias"}, false);
    a.head->activation = activation_of(config, "classifier_activation", "gelu");
    a.prefixes = {"model."};
    a.passed_over = {"head.*"};
    return a;
}

} // namespace attn::transformer
