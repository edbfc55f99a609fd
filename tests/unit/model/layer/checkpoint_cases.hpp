// Layers of one kind of names each, and what is to be told from them.
#pragma once

#include "attn/model/layer/checkpoint.hpp"

#include "attn/tensor/error.hpp"
#include "unit/error_of.hpp"
#include "unit/model/recipe/option_names.hpp"

namespace attn::model {

using Tensors = std::vector<StoredShape>;

inline Recipe recipe_with(std::optional<Index> heads = {}, const std::string& prefix = "",
                          std::optional<MatrixLayout> layout = {})
{
    Recipe recipe = default_recipe();
    recipe.draws.resize(2); // the seed and the embedding
    recipe.dims.heads = heads;
    recipe.parameters = FileParameters{.file = "f", .prefix = prefix, .layout = layout};
    return recipe;
}

inline FittedLayer fitted(const Tensors& tensors, const Recipe& recipe)
{
    return fit(find_layer(tensors, recipe, "'f'"), recipe, "'f'", options_alone());
}

inline std::string refusal(const Tensors& tensors, const Recipe& recipe, ErrorKind kind = ErrorKind::data)
{
    return error_of(kind, [&] { (void)fitted(tensors, recipe); });
}

struct Known {
    const char* family;
    Tensors tensors;
    std::optional<Index> heads;
    Dims dims;
    std::optional<MatrixLayout> layout;
    const char* description;
};

inline std::vector<Known> fused_and_separate()
{
    return {
        {"nn.MultiheadAttention",
         {{"in_proj_weight", {24, 8}}, {"in_proj_bias", {24}}, {"out_proj.weight", {8, 8}}, {"out_proj.bias", {8}}},
         2,
         {8, 2, 2, 4, 4, {}},
         MatrixLayout::out_in,
         "in_proj_weight → W_q, W_k, W_v; out_proj.weight → W_o; in_proj_bias → b_q, b_k, b_v; out_proj.bias → b_o"},
        {"nn.MultiheadAttention",
         {{"q_proj_weight", {8, 8}},
          {"k_proj_weight", {8, 3}},
          {"v_proj_weight", {8, 5}},
          {"bias_k", {1, 1, 8}},
          {"bias_v", {1, 1, 8}}},
         4,
         {8, 4, 4, 2, 2, {}, 3, 5},
         MatrixLayout::out_in,
         "q_proj_weight → W_q; k_proj_weight → W_k; v_proj_weight → W_v; bias_k → bias_k; bias_v → bias_v"},
        {"BERT",
         {{"l.0.attention.self.query.weight", {6, 6}},
          {"l.0.attention.self.key.weight", {6, 6}},
          {"l.0.attention.self.value.weight", {6, 6}},
          {"l.0.attention.output.dense.weight", {6, 6}},
          {"l.0.output.dense.weight", {6, 24}}},
         3,
         {6, 3, 3, 2, 2, {}},
         MatrixLayout::out_in,
         "l.0.attention.self.query.weight → W_q; l.0.attention.self.key.weight → W_k; l.0.attention.self.value.weight → W_v; "
         "l.0.attention.output.dense.weight → W_o"},
        {"GPT-2",
         {{"h.0.attn.c_attn.weight", {6, 18}}, {"h.0.attn.c_proj.weight", {6, 6}}, {"h.0.attn.bias", {1, 1, 4, 4}}},
         2,
         {6, 2, 2, 3, 3, {}},
         MatrixLayout::in_out,
         "h.0.attn.c_attn.weight → W_q, W_k, W_v; h.0.attn.c_proj.weight → W_o"},
        {"GPT-2", // as nn.Linear keeps it
         {{"c_attn.weight", {18, 6}}, {"c_proj.weight", {6, 6}}},
         2,
         {6, 2, 2, 3, 3, {}},
         MatrixLayout::out_in,
         "c_attn.weight → W_q, W_k, W_v; c_proj.weight → W_o"},
    };
}

inline std::vector<Known> grouped_and_plain()
{
    return {
        {"Llama",
         {{"q_proj.weight", {24, 10}}, {"k_proj.weight", {8, 10}}, {"v_proj.weight", {8, 10}}, {"o_proj.weight", {10, 24}}},
         6,
         {10, 6, 2, 4, 4, {}},
         MatrixLayout::out_in,
         "q_proj.weight → W_q; k_proj.weight → W_k; v_proj.weight → W_v; o_proj.weight → W_o"},
        {"plain names",
         {{"W_q", {2, 3, 5}}, {"W_k", {1, 3, 5}}, {"W_v", {1, 4, 5}}, {"W_o", {8, 5}}, {"embedding", {9, 5}}},
         {},
         {5, 2, 1, 3, 4, 9},
         MatrixLayout::run,
         "embedding → embedding; W_q → W_q; W_k → W_k; W_v → W_v; W_o → W_o"},
        {"plain names",
         {{"m/W_q", {5, 6}}, {"m/W_k", {5, 6}}, {"m/W_v", {5, 8}}, {"m/b_v", {8}}},
         2,
         {5, 2, 2, 3, 4, {}},
         MatrixLayout::in_out,
         "m/W_q → W_q; m/W_k → W_k; m/W_v → W_v; m/b_v → b_v"},
    };
}

inline const std::vector<Known>& known()
{
    static const std::vector<Known> list = [] {
        std::vector<Known> all = fused_and_separate();
        std::ranges::move(grouped_and_plain(), std::back_inserter(all));
        return all;
    }();
    return list;
}

} // namespace attn::model
