// Parameters of one attention layer in another program's file: which tensor is which, told from names and shapes.
//
//   plain names             W_q W_k W_v W_o b_q b_k b_v b_o bias_k bias_v, (out, in), (in, out) or stacked by heads; of general
//                           and additive scores W_a U_a v_a b_Wa b_Ua b_va
//   nn.MultiheadAttention   in_proj_weight (3E, E), or q_proj_weight, k_proj_weight, v_proj_weight; in_proj_bias (3E);
//                           out_proj.weight, out_proj.bias; bias_k, bias_v
//   BERT                    self.query.weight … self.value.bias, output.dense.weight, output.dense.bias
//   GPT-2                   c_attn.weight (D, 3D) or (3D, D), c_attn.bias (3D), c_proj.weight, c_proj.bias
//   Llama                   q_proj.weight k_proj.weight v_proj.weight o_proj.weight, with biases where there are some
//
// A layer's names have a prefix in common, which ends in a dot or a slash. A table of embeddings may stand beside them, or
// without the prefix: embedding, key_embedding, value_embedding, or by position embeddings, key_embeddings. Another tensor in
// the module of the projections (norms of queries and keys, sinks, …) would change the numbers and is refused, except buffers.
#pragma once

#include "attn/model/layer/parameters.hpp"
#include "attn/model/recipe/overrides.hpp"

namespace attn::model {

inline constexpr std::string_view plain_family = "plain names";
inline constexpr std::string_view multihead_family = "nn.MultiheadAttention";

/// What a file says of a tensor.
struct StoredShape {
    std::string name;
    Shape shape;
};

/// Where a parameter stands.
struct Source {
    Target target;
    std::string name; ///< of the tensor in the file
    Shape shape;      ///< of that tensor
    Index part = 0;   ///< of its outputs: W_q is the first third of a fused matrix
    Index parts = 1;
    Side side = Side::left; ///< of a W_…
};

/// One layer of a file.
struct CheckpointLayer {
    std::string_view family;              ///< "BERT"
    std::string prefix;                   ///< without the dot at its end
    std::vector<Source> sources;          ///< in the order of Target
    std::optional<Source> unapplied = {}; ///< a W_o that the recipe leaves out

    /// Where that parameter stands; nothing: nowhere.
    [[nodiscard]] const Source* find(Target target) const;
};

/// A layer whose shapes are understood.
struct FittedLayer {
    CheckpointLayer layer;
    Dims dims;                          ///< what the shapes say, with the number of heads
    std::optional<MatrixLayout> layout; ///< that a plain file with the same matrices would have; nothing: has no name
    bool heads_assumed = false;         ///< one head, because the number is not stated
};

/// The layer that `recipe.parameters` means, by names alone. Throws Error(data), naming `file`: for a tensor that is not there,
/// with the names that are, for one of the layer's module that is not applied, and for a prefix that is missing or wrong, with
/// those that there are.
[[nodiscard]] CheckpointLayer find_layer(const std::vector<StoredShape>& tensors, const Recipe& recipe,
                                         const std::string& file);

/// Which way round its matrices lie, and what dimensions follow. Throws Error(data) for shapes that do not belong together, and
/// for matrices that read both ways unless a layout is said; for dimensions of the recipe, above all heads, that the shapes
/// contradict, with those that they allow: Error(usage) where the command line `origin` them.
[[nodiscard]] FittedLayer fit(CheckpointLayer layer, const Recipe& recipe, const std::string& file, const Origin& origin);

/// The recipe with what is known of its file: prefix, layout and dimensions. What it draws of embeddings that the file holds is
/// left out; tables of their own that keys or values need, and the file does not hold, are drawn last.
[[nodiscard]] Recipe with_layer(Recipe recipe, const FittedLayer& fitted);

/// The part of its tensor that a source means; `whole` is that tensor.
[[nodiscard]] StoredParameter stored_parameter(const Source& source, const TensorView& whole);

/// "in_proj_weight → W_q, W_k, W_v; out_proj.weight → W_o"
[[nodiscard]] std::string describe(const CheckpointLayer& layer);

} // namespace attn::model
