// The function of each architecture, and what several of them read from their configs in the same way and make of it.
#pragma once

#include "attn/transformer/architecture.hpp"
#include "attn/transformer/config.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::transformer {

/// The same norm, with a name.
[[nodiscard]] NormPart named(NormPart norm, std::string_view name);

/// Keys that several architectures read, and words that several keys have.
inline constexpr std::string_view hidden_size = "hidden_size", num_hidden_layers = "num_hidden_layers",
                                  num_attention_heads = "num_attention_heads", vocab_size = "vocab_size",
                                  max_position_embeddings = "max_position_embeddings", hidden_act = "hidden_act",
                                  hidden_activation = "hidden_activation", layer_norm_eps = "layer_norm_eps",
                                  attention_bias = "attention_bias", mlp_bias = "mlp_bias",
                                  position_embedding_type = "position_embedding_type";
inline constexpr std::string_view full_attention = "full_attention", sliding_attention = "sliding_attention";

/// By the names that transformers has for it; throws Error(data) for another one.
[[nodiscard]] Activation activation_of(Config& config, std::string_view key, std::string_view otherwise);

/// The sizes of an encoder or decoder.
struct Sizes {
    Index D = 0, L = 0, H = 0, H_kv = 0, d = 0, inner = 0, V = 0;
};
/// D / H. Throws Error(data) for what is not a whole number.
[[nodiscard]] Index head_size(Index D, Index H);
/// hidden_size, num_hidden_layers, num_attention_heads, intermediate_size and vocab_size; with num_key_value_heads and head_dim
/// where there are any; without `d` a head has D / H numbers. Throws Error(data) for query heads that key/value heads do not
/// share evenly.
[[nodiscard]] Sizes sizes_of(Config& config, std::optional<Index> d = {});

/// What layer l calls its tensors, behind "layers.l.", say. A norm or a gate without a name is not there. Queries, keys and
/// values of one name are parts of one tensor, and so are, in this order, the gate and what goes through it.
struct LayerNames {
    std::string_view layers;
    std::string_view attention_in = {}, query, key, value, query_norm = {}, key_norm = {}, output;
    std::string_view attention_out = {}, attention_sum = {};
    std::string_view mlp_in = {}, gate = {}, up, down, mlp_out = {}, mlp_sum = {};
    /// Of a decoder that has an encoder; no cross_query: there is none.
    std::string_view cross_in = {}, cross_query = {}, cross_key = {}, cross_value = {}, cross_output = {}, cross_sum = {};
};

/// What the layers of a model have in common.
struct LayerStyle {
    NormPart norm = {}; ///< without its name
    Activation activation = Activation::gelu;
    bool attention_bias = true, output_bias = true, mlp_bias = true; ///< the first of queries, keys and values
    std::optional<RopePart> rope = {};
    bool parallel = false;
    bool input_major = false;
    bool heads_in_turn = false; ///< in one tensor: query, key and value of head 0, of head 1, …
};
/// By layer_norm_eps and hidden_act.
[[nodiscard]] LayerStyle style_of(Config& config, double epsilon, std::string_view activation);

[[nodiscard]] std::vector<LayerPart> layers_of(const LayerNames& names, const Sizes& sizes, const LayerStyle& style);

/// What rotary positions are where the config does not say.
struct RopeDefaults {
    double base = 10000;
    double share = 1; ///< of a head's numbers that turn
};
/// From rope_parameters, or rope_theta and rope_scaling of older files; `section` is the part of rope_parameters that counts,
/// full_attention, or empty. Throws Error(data) for a scaling that is not known.
[[nodiscard]] RopePart rope_of(Config& config, Index d, const RopeDefaults& defaults, std::string_view section = {});
/// The part of rope_parameters or the key `before` says the base; there is no scaling.
[[nodiscard]] RopePart unscaled_rope(Config& config, std::string_view section, std::string_view before, double base);

/// Whether each layer looks through the window: layer_types, or `otherwise` of a layer where there is no such list. Throws
/// Error(data) for a list of another length, or for other words than full_attention and sliding_attention.
[[nodiscard]] std::vector<bool> sliding_layers(Config& config, Index L, const std::function<bool(Index)>& otherwise);

/// The key sliding_window; nothing when it is null.
[[nodiscard]] std::optional<Index> sliding_window(Config& config);
/// Layers that slide see so many keys with the query's own, none behind it; all of them where no number is given.
void set_windows(Architecture& a, std::optional<Index> keys, const std::vector<bool>& sliding);

/// Whether the words of the head are those of the embedding.
[[nodiscard]] Tied tied_of(Config& config);

struct HeadNames {
    std::string_view transform, norm, words, bias;
};
/// The head of an encoder, with the norm of its embedding; without the bias there is none.
[[nodiscard]] HeadPart encoder_head(Config& config, const Architecture& a, const HeadNames& names);

/// Scores are multiplied by 1/√d.
[[nodiscard]] double inverse_root(double d);

// The function of each architecture; describe.cpp says which model_type has which. Each asks the config for every key that
// changes what the model computes.

[[nodiscard]] Architecture describe_bert(Config& config);
[[nodiscard]] Architecture describe_roberta(Config& config);
[[nodiscard]] Architecture describe_distilbert(Config& config);
[[nodiscard]] Architecture describe_mpnet(Config& config);
[[nodiscard]] Architecture describe_modernbert(Config& config);

[[nodiscard]] Architecture describe_marian(Config& config);
[[nodiscard]] Architecture describe_bart(Config& config);
[[nodiscard]] Architecture describe_t5(Config& config);

[[nodiscard]] Architecture describe_gpt2(Config& config);
[[nodiscard]] Architecture describe_gpt_neox(Config& config);
[[nodiscard]] Architecture describe_phi(Config& config);

[[nodiscard]] Architecture describe_tutorial(Config& config);

[[nodiscard]] Architecture describe_llama(Config& config);
[[nodiscard]] Architecture describe_mistral(Config& config);
[[nodiscard]] Architecture describe_qwen2(Config& config);
[[nodiscard]] Architecture describe_qwen3(Config& config);
[[nodiscard]] Architecture describe_smollm3(Config& config);
[[nodiscard]] Architecture describe_olmo2(Config& config);
[[nodiscard]] Architecture describe_gemma(Config& config);
[[nodiscard]] Architecture describe_gemma2(Config& config);
[[nodiscard]] Architecture describe_gemma3(Config& config);

} // namespace attn::transformer
