// Encoders with decoders: Marian, BART, T5. Each describes its decoder, which has the encoder.
#include "attn/tensor/error.hpp"
#include "attn/transformer/architectures/describe.hpp"
#include "attn/transformer/architectures/parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

namespace attn::transformer {
namespace {

/// Without what only a cross-attention has.
LayerNames of_encoder(LayerNames names)
{
    names.cross_in = names.cross_query = names.cross_key = names.cross_value = names.cross_output = names.cross_sum = {};
    return names;
}

/// The words that both stacks have under one name, or each under its own. Of several tensors a stack's own counts, as in
/// transformers, which ties those alone that are equal.
EmbeddingPart words_of(std::string_view stack, Index V, Index D, double scale)
{
    const bool encodes = stack == "encoder";
    return {.words = fmt::format("{}.embed_tokens", stack),
            .others = {"shared", encodes ? "decoder.embed_tokens" : "encoder.embed_tokens"},
            .V = V,
            .size = D,
            .scale = scale};
}

/// Ids that are each a list of its own; longer ones, which forbid a sequence, are no rule here.
std::vector<Index> single_ids(Config& config, std::string_view key)
{
    std::vector<Index> ids;
    for (Index i = 0; config.has({fmt::format("{}.{}", key, i)}); ++i) {
        constexpr Index none = -1;
        const Index id = config.place({fmt::format("{}.{}.0", key, i)}, none);
        if (id != none && !config.has({fmt::format("{}.{}.1", key, i)})) {
            ids.push_back(id);
        }
    }
    return ids;
}

std::optional<Index> id_of(Config& config, std::string_view key, std::optional<Index> otherwise)
{
    return config.has({key}) ? std::optional(config.place({key}, 0)) : otherwise;
}

constexpr std::string_view forced_bos = "forced_bos_token_id", eos = "eos_token_id", bad_words = "bad_words_ids";

/// Throws Error(data) for an id that the decoder has no row for.
TargetPart target_of(Config& config, Index start, std::optional<Index> end, Index rows)
{
    TargetPart target{.start = config.place({"decoder_start_token_id"}, start),
                      .forced_first = id_of(config, forced_bos, {}),
                      .end = id_of(config, eos, end),
                      .never = single_ids(config, bad_words)};
    if (target.start >= rows) {
        throw Error(ErrorKind::data, "decoder_start_token_id", std::to_string(target.start),
                    fmt::format("0 to {}, the rows of the decoder's embedding", rows - 1));
    }
    return target;
}

void keep_nothing_of(Architecture& decoder, std::initializer_list<std::string_view> names)
{
    decoder.passed_over.insert(decoder.passed_over.end(), names.begin(), names.end());
}

// ---- BART and its kin ------------------------------------------------------------------------------------------------------

// Norms behind the sums, biases everywhere, learned or sinusoidal positions, an MLP without a gate. (Lewis et al. 2019, "BART:
// Denoising Sequence-to-Sequence Pre-training"; Junczys-Dowmunt et al. 2018, "Marian: Fast Neural Machine Translation in C++".)

LayerNames bart_names(std::string_view layers)
{
    return {.layers = layers,
            .query = "self_attn.q_proj",
            .key = "self_attn.k_proj",
            .value = "self_attn.v_proj",
            .output = "self_attn.out_proj",
            .attention_sum = "self_attn_layer_norm",
            .up = "fc1",
            .down = "fc2",
            .mlp_sum = "final_layer_norm",
            .cross_query = "encoder_attn.q_proj",
            .cross_key = "encoder_attn.k_proj",
            .cross_value = "encoder_attn.v_proj",
            .cross_output = "encoder_attn.out_proj",
            .cross_sum = "encoder_attn_layer_norm"};
}

/// One stack, without its positions.
Architecture bart_stack(Config& config, std::string_view stack, Index V)
{
    const auto key = [&](std::string_view name) { return fmt::format("{}_{}", stack, name); };
    Sizes s{.D = config.count({"d_model"}),
            .L = config.layers({key("layers")}),
            .H = config.count({key("attention_heads")}),
            .inner = config.count({key("ffn_dim")}),
            .V = V};
    s.H_kv = s.H;
    s.d = head_size(s.D, s.H);
    const LayerStyle style{.norm = {.epsilon = 1e-5}, .activation = activation_of(config, "activation_function", "gelu")};
    const std::string at = fmt::format("{}.layers.", stack);
    const LayerNames names = bart_names(at);
    const bool decodes = stack == "decoder";
    const double scale = config.flag({"scale_embedding"}, false) ? std::sqrt(static_cast<double>(s.D)) : 1;
    return {.D = s.D,
            .causal = decodes,
            .most_tokens = config.count({max_position_embeddings}, 1024),
            .embedding = words_of(stack, V, s.D, scale),
            .layers = layers_of(decodes ? names : of_encoder(names), s, style)};
}

/// What both stacks have in common, and the head.
Architecture of_two_stacks(Config& config, Architecture encoder, Architecture decoder)
{
    decoder.encoder = std::make_shared<const Architecture>(std::move(encoder));
    decoder.head = HeadPart{.words = "lm_head", .tied = tied_of(config), .bias = "final_logits_bias", .bias_is_row = true};
    decoder.prefixes = {"model."};
    keep_nothing_of(decoder, {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "encoder.version",
                              "decoder.version", "classification_head.*"});
    config.pass_over({num_hidden_layers, "encoder_layerdrop", "decoder_layerdrop", "activation_dropout", "init_std",
                      "classif_dropout", "extra_pos_embeddings", "force_bos_token_to_be_generated", "gradient_checkpointing"});
    return decoder;
}

/// Learned positions, two rows behind the table's first, and a norm behind the embedding.
void add_learned_positions(Architecture& a, std::string_view stack)
{
    constexpr Index offset = 2;
    a.embedding.positions = fmt::format("{}.embed_positions", stack);
    a.embedding.position_rows = a.most_tokens + offset;
    a.embedding.first_position = offset;
    a.embedding.norm = NormPart{.name = fmt::format("{}.layernorm_embedding", stack)};
}

} // namespace

TargetPart with_generation(TargetPart target, Config values)
{
    target.forced_first = id_of(values, forced_bos, target.forced_first);
    target.end = id_of(values, eos, target.end);
    if (std::vector<Index> never = single_ids(values, bad_words); !never.empty()) {
        target.never = std::move(never);
    }
    return target;
}

Architecture describe_bart(Config& config)
{
    const Index V = config.count({vocab_size});
    Architecture encoder = bart_stack(config, "encoder", V);
    Architecture decoder = bart_stack(config, "decoder", V);
    add_learned_positions(encoder, "encoder");
    add_learned_positions(decoder, "decoder");
    for (const std::string_view key :
         {"normalize_before", "add_final_layer_norm", "static_position_embeddings", "add_bias_logits"}) {
        config.require(key, false);
    }
    config.require("normalize_embedding", true);
    decoder.target = target_of(config, 2, 2, V);
    return of_two_stacks(config, std::move(encoder), std::move(decoder));
}

Architecture describe_marian(Config& config)
{
    const Index V = config.count({vocab_size});
    const bool shared = config.flag({"share_encoder_decoder_embeddings"}, true);
    const Index V_decoder = config.optional_count({"decoder_vocab_size"}, {}).value_or(V);
    Architecture encoder = bart_stack(config, "encoder", V);
    Architecture decoder = bart_stack(config, "decoder", shared ? V : V_decoder);
    encoder.embedding.sinusoidal = decoder.embedding.sinusoidal = true;
    if (!shared) { // each its own
        encoder.embedding.others = decoder.embedding.others = {};
    }
    for (const std::string_view key : {"normalize_before", "add_final_layer_norm", "normalize_embedding", "add_bias_logits"}) {
        config.require(key, false);
    }
    config.require("static_position_embeddings", true);
    decoder.target = target_of(config, config.place({"pad_token_id"}, 58100), 0, decoder.embedding.V);
    Architecture a = of_two_stacks(config, std::move(encoder), std::move(decoder));
    keep_nothing_of(a, {"encoder.embed_positions.weight", "decoder.embed_positions.weight"}); // computed
    return a;
}

// ---- T5 --------------------------------------------------------------------------------------------------------------------

// RMS norms in front, no biases, scores that are not scaled, and positions alone in a bias that layer 0 has for all layers of
// its stack, but for none of its cross-attentions. Version 1.1 and Flan-T5 have a gate in the MLP. (Raffel et al. 2020,
// "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer"; Shazeer 2020, "GLU Variants Improve
// Transformer".)

namespace {

struct T5Mlp {
    bool gated = false;
    Activation activation = Activation::relu;
};

/// "relu", or with a gate "gated-gelu", whose gelu is the one with tanh.
T5Mlp t5_mlp(Config& config)
{
    constexpr std::string_view key = "feed_forward_proj";
    const std::string name = config.text({key}, "relu");
    if (name != "relu" && name != "gated-gelu" && name != "gated-silu") {
        throw Error(ErrorKind::data, key, in_quotes(name), "relu, gated-gelu, gated-silu");
    }
    const Activation gate = name == "gated-gelu" ? Activation::gelu_tanh : Activation::silu;
    return name == "relu" ? T5Mlp() : T5Mlp{true, gate};
}

LayerNames t5_names(std::string_view layers, bool decodes, bool gated)
{
    LayerNames names{.layers = layers,
                     .attention_in = "layer.0.layer_norm",
                     .query = "layer.0.SelfAttention.q",
                     .key = "layer.0.SelfAttention.k",
                     .value = "layer.0.SelfAttention.v",
                     .output = "layer.0.SelfAttention.o",
                     .mlp_in = decodes ? "layer.2.layer_norm" : "layer.1.layer_norm",
                     .up = decodes ? "layer.2.DenseReluDense.wi" : "layer.1.DenseReluDense.wi",
                     .down = decodes ? "layer.2.DenseReluDense.wo" : "layer.1.DenseReluDense.wo"};
    if (gated) {
        names.gate = decodes ? "layer.2.DenseReluDense.wi_0" : "layer.1.DenseReluDense.wi_0";
        names.up = decodes ? "layer.2.DenseReluDense.wi_1" : "layer.1.DenseReluDense.wi_1";
    }
    if (decodes) {
        names.cross_in = "layer.1.layer_norm";
        names.cross_query = "layer.1.EncDecAttention.q";
        names.cross_key = "layer.1.EncDecAttention.k";
        names.cross_value = "layer.1.EncDecAttention.v";
        names.cross_output = "layer.1.EncDecAttention.o";
    }
    return names;
}

Architecture t5_stack(Config& config, std::string_view stack, Index L)
{
    const bool decodes = stack == "decoder";
    Sizes s{.D = config.count({"d_model"}), .L = L, .H = config.count({"num_heads"}), .inner = config.count({"d_ff"})};
    s.H_kv = s.H;
    s.d = config.count({"d_kv"}, 64);
    s.V = config.count({vocab_size});
    const T5Mlp mlp = t5_mlp(config);
    LayerStyle style{.norm = {.epsilon = config.positive({"layer_norm_epsilon"}, 1e-6), .kind = NormKind::rms},
                     .activation = mlp.activation};
    style.attention_bias = style.output_bias = style.mlp_bias = false;
    constexpr Index any = 1'000'000; // distances have buckets, however large
    const std::string at = fmt::format("{}.block.", stack);
    Architecture a{.D = s.D,
                   .causal = decodes,
                   .most_tokens = any,
                   .embedding = words_of(stack, s.V, s.D, 1),
                   .layers = layers_of(t5_names(at, decodes, mlp.gated), s, style),
                   .relative_bias = RelativeBiasPart{.name = at + "0.layer.0.SelfAttention.relative_attention_bias",
                                                     .buckets = config.count({"relative_attention_num_buckets"}, 32),
                                                     .most_distance = config.count({"relative_attention_max_distance"}, 128),
                                                     .causal = decodes},
                   .final_norm = named(style.norm, fmt::format("{}.final_layer_norm", stack))};
    const RelativeBiasPart& bias = *a.relative_bias;
    if (const Index exact = bias.buckets / (decodes ? 2 : 4); exact < 1 || bias.most_distance <= exact) {
        throw Error(ErrorKind::data, "relative_attention_num_buckets and relative_attention_max_distance",
                    fmt::format("{} and {}", bias.buckets, bias.most_distance),
                    "4 buckets or more, and a distance beyond those that have a bucket each");
    }
    for (LayerPart& layer : a.layers) {
        layer.attention.scale = 1;
        if (layer.cross) {
            layer.cross->attention.scale = 1;
        }
    }
    return a;
}

} // namespace

Architecture describe_t5(Config& config)
{
    const Index L = config.layers({"num_layers"});
    Architecture decoder =
        t5_stack(config, "decoder", config.has({"num_decoder_layers"}) ? config.layers({"num_decoder_layers"}) : L);
    decoder.encoder = std::make_shared<const Architecture>(t5_stack(config, "encoder", L));
    // Tied words also say that what enters the head is scaled; since 5.0 transformers says that in a key of its own.
    const bool tied = config.flag({"tie_word_embeddings"}, true);
    const bool scaled = config.flag({"scale_decoder_outputs"}, tied);
    decoder.head = HeadPart{.scale = scaled ? inverse_root(static_cast<double>(decoder.D)) : 1, .words = "lm_head"};
    decoder.target = target_of(config, 0, 1, decoder.embedding.V);
    keep_nothing_of(decoder, {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
                              "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"});
    config.pass_over({"n_positions", "dropout_rate", "dense_act_fn", "is_gated_act"});
    return decoder;
}

} // namespace attn::transformer
