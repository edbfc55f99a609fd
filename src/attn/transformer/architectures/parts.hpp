// What several architectures read from their configs in the same way.
#pragma once

#include "attn/transformer/architecture.hpp"
#include "attn/transformer/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attn::transformer {

/// "encoder.layer.3."
[[nodiscard]] std::string layer_name(std::string_view before, Index layer);

/// Stored as (out, in).
[[nodiscard]] LinearPart linear(std::string name, Index in, Index out, bool bias = true);

/// By the names that transformers has for it; throws Error(data) for another one.
[[nodiscard]] Activation activation_of(Config& config, Config::Keys keys, std::string_view otherwise);

/// The sizes of an encoder or decoder.
struct Sizes {
    Index D = 0, L = 0, H = 0, H_kv = 0, d = 0, inner = 0, V = 0;
};
/// D / H. Throws Error(data) for what is no whole number.
[[nodiscard]] Index head_size(Index D, Index H);
/// Throws Error(data) for query heads that key/value heads do not share evenly.
void require_sizes(const Sizes& sizes);
/// hidden_size, num_hidden_layers, num_attention_heads, intermediate_size and vocab_size; with num_key_value_heads and head_dim
/// where there are any.
[[nodiscard]] Sizes sizes_of(Config& config);

/// What a layer of BERT's kind calls its tensors, behind its own name.
struct PostNormNames {
    std::string_view query, key, value, output, attention_norm, up, down, mlp_norm;
};
struct PostNormStyle {
    double epsilon;
    Activation activation;
};
/// X = norm(X + attention(X)), then X = norm(X + mlp(X)); every linear layer has a bias.
[[nodiscard]] LayerPart post_norm_layer(const std::string& at, const PostNormNames& names, const Sizes& sizes,
                                        const PostNormStyle& style);

/// What rotary positions are where the config does not say.
struct RopeDefaults {
    double base = 10000;
    double share = 1; ///< of a head's numbers that turn
};
/// From rope_parameters, or rope_theta and rope_scaling of older files; `section` is the part of rope_parameters that counts,
/// ".full_attention", or empty. Throws Error(data) for a scaling that is not known.
[[nodiscard]] RopePart rope_of(Config& config, Index d, const RopeDefaults& defaults, std::string_view section = {});

/// Whether each layer looks through the window: layer_types, or `otherwise` of a layer where there is no such list. Throws
/// Error(data) for a list of another length, or for other words than full_attention and sliding_attention.
template <typename Otherwise>
[[nodiscard]] std::vector<bool> sliding_layers(Config& config, Index L, const Otherwise& otherwise);

[[nodiscard]] std::vector<std::string> layer_types(Config& config, Index L);

/// `keys` keys with the query's own, none behind it.
[[nodiscard]] inline WindowPart window_back(Index keys)
{
    return {.left = keys - 1, .right = -1};
}

/// How many tokens have a place in a table of so many rows, when places begin behind that of the padding. Throws Error(data)
/// when none has.
[[nodiscard]] Index places_behind(Index padding, Index rows);

/// Whether the words of the head are those of the embedding.
[[nodiscard]] Tied tied_of(Config& config);

/// Scores are multiplied by 1/√d.
[[nodiscard]] double inverse_root(double d);

template <typename Otherwise>
std::vector<bool> sliding_layers(Config& config, Index L, const Otherwise& otherwise)
{
    const std::vector<std::string> types = layer_types(config, L);
    std::vector<bool> sliding;
    for (Index l = 0; l < L; ++l) {
        sliding.push_back(types.empty() ? otherwise(l) : types[static_cast<std::size_t>(l)] == "sliding_attention");
    }
    return sliding;
}

} // namespace attn::transformer
