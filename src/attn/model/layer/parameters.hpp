// Parameters: the tensors that a recipe's draws make, or that a file holds.
//
// Natural shapes, which a draw has unless it names another one of the same size and order:
//
//   embedding   (V, D)        embeddings (T, D)       key_embeddings (S, D)     position_embedding (T, D), or more rows
//   queries     (T, d_k), with more than one head (H, T, d_k)    keys (S, d_k), (H_kv, S, d_k)    values likewise with d_v
//   W_q  left   (d_k, D)      with more than one head (H, d_k, D), or as one matrix (H·d_k, D)
//        right  (D, d_k)                              (H, D, d_k), or as one matrix (D, H·d_k)
//   W_k, W_v    the same with H_kv heads; W_v with d_v
//   W_o  right  (H·d_v, D)    left (D, H·d_v), and output_dim for D where the recipe says so
//   b_q (H·d_k)   b_k (H_kv·d_k)   b_v (H_kv·d_v)   b_o (D)   bias_k (H_kv·d_k)   bias_v (H_kv·d_v)
//
// and those of general and additive scores, of which every query head has its own (core/attention.hpp):
//
//   W_a, U_a    as W_q, but each head reads its own d_k numbers: left (H, d_a, d_k) or (H·d_a, d_k), right (H, d_k, d_a) or
//               (d_k, H·d_a); without H where there is one head. d_a is d_k for general scores
//   v_a (H·d_a)   b_Wa (H·d_a)   b_Ua (H·d_a)   b_va (H)
//
// D is key_dim in W_k, key_embedding (V, D) and key_embeddings, and value_dim in W_v and value_embedding (V, D), where the
// recipe says so.
#pragma once

#include "attn/model/layer/draw_plan.hpp"

namespace attn::model {

template <typename Scalar>
struct Parameter {
    Target target;
    Side side;             ///< of a W_…
    Tensor<Scalar> tensor; ///< as drawn
};

template <typename Scalar>
struct Drawn {
    std::vector<Parameter<Scalar>> parameters; ///< in the order of Target
    std::optional<random::Stream> stream;      ///< as the draws leave it; nothing: it was never seeded
};

/// Performs the draws in order; those thrown away are left out. One thing shows itself on the way: throws Error(data) for
/// numbers of a stream that are not finite, naming the draw.
template <typename Scalar>
[[nodiscard]] Drawn<Scalar> draw_parameters(const DrawPlan& plan);

/// A projection of all heads as one right-hand factor: X (T, D) · W (D, heads·d), whatever shape and side it was drawn with.
template <typename Scalar>
[[nodiscard]] Matrix<double> as_right_factor(const Parameter<Scalar>& W, Index heads);

} // namespace attn::model
