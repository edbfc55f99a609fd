// GPT-2: learned positions, norms in front, weights stored as (in, out), queries, keys and values in one.
// (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners".)
#include "attn/transformer/architectures/families.hpp"
#include "attn/transformer/architectures/parts.hpp"

namespace attn::transformer {
namespace {

LinearPart conv1d(std::string name, Index in, Index out, FusedRows rows = {})
{
    return {.name = std::move(name), .in = in, .out = out, .input_major = true, .rows = rows};
}

} // namespace

Architecture describe_gpt2(Config& config)
{
    Sizes s{.D = config.count({"n_embd", "hidden_size"}),
            .L = config.layers({"n_layer", "num_hidden_layers"}),
            .H = config.count({"n_head", "num_attention_heads"})};
    s.H_kv = s.H;
    s.d = head_size(s.D, s.H);
    require_sizes(s);
    const Index inner = config.optional_count({"n_inner"}, {}).value_or(4 * s.D);
    const double epsilon = config.positive({"layer_norm_epsilon"}, 1e-5);
    const Activation activation = activation_of(config, {"activation_function"}, "gelu_new");
    const bool scaled = config.flag({"scale_attn_weights"}, true);
    const bool by_layer = config.flag({"scale_attn_by_inverse_layer_idx"}, false);
    config.pass_over({"n_ctx"});
    Architecture a{.D = s.D, .causal = true, .most_tokens = config.count({"n_positions", "max_position_embeddings"}, 1024)};
    a.embedding = {
        .words = "wte", .V = config.count({"vocab_size"}), .size = s.D, .positions = "wpe", .position_rows = a.most_tokens};
    for (Index l = 0; l < s.L; ++l) {
        const std::string at = layer_name("h.", l);
        const auto part = [&](Index n) { return conv1d(at + "attn.c_attn", s.D, s.D, {.stored = 3 * s.D, .first = n * s.D}); };
        LayerPart layer;
        layer.attention_in = NormPart{at + "ln_1", epsilon};
        layer.attention = {.H = s.H,
                           .H_kv = s.H,
                           .d = s.d,
                           .query = part(0),
                           .key = part(1),
                           .value = part(2),
                           .output = conv1d(at + "attn.c_proj", s.D, s.D),
                           .scale = (scaled ? inverse_root(static_cast<double>(s.d)) : 1.0) /
                                    (by_layer ? static_cast<double>(l + 1) : 1.0)};
        layer.mlp_in = NormPart{at + "ln_2", epsilon};
        layer.mlp = {
            .up = conv1d(at + "mlp.c_fc", s.D, inner), .down = conv1d(at + "mlp.c_proj", inner, s.D), .activation = activation};
        a.layers.push_back(std::move(layer));
    }
    a.final_norm = NormPart{"ln_f", epsilon};
    a.head = HeadPart{.words = "lm_head", .tied = tied_of(config)};
    a.prefixes = {"transformer."};
    a.passed_over = {"h.*.attn.bias"}; // a mask
    return a;
}

} // namespace attn::transformer
