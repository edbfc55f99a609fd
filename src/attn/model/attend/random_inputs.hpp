// Queries, keys and values that are drawn, and a gradient: inputs of attend for who has no files, and the same for who has
// PyTorch or NumPy.
//
//   torch.manual_seed(seed)
//   queries = torch.randn(B, H, T, d_k)       of float64 with dtype=torch.float64; of float16 and bfloat16 the float32 draws,
//   keys    = torch.randn(B, H_kv, S, d_k)    rounded once by .to(dtype)
//   values  = torch.randn(B, H_kv, S, d_v)
//   grad    = torch.randn(B, H, T, d_v)       where it is asked for
//
// With NumPy's generators np.random.randn, or standard_normal of default_rng, in the same order, and .astype(dtype).
#pragma once

#include "attn/model/attend/attend.hpp"
#include "attn/model/recipe/recipe.hpp"

#include <cstdint>
#include <vector>

namespace attn::model {

struct RandomInputs {
    core::AttentionDims sizes; ///< all but P; each 1 or more, and H_kv divides H
    ElementType type = ElementType::float32;
    Generator generator = Generator::torch;
    std::uint64_t seed = usual_seed;
    TensorLayout layout = TensorLayout::bhsd; ///< that the numbers fill row by row: bshd is randn(B, T, H, d)
    bool gradient = false;                    ///< draw that of the context, too
    bool packed = false;                      ///< (T, H, d), sequences one after another; B is 1
};

/// Room for them, all zeros as yet: named as the operands are, in the order in which they are drawn. Throws Error(too_large)
/// for what takes more than `memory_limit` bytes while it is drawn.
[[nodiscard]] std::vector<StoredTensor> room_for_inputs(const RandomInputs& how, Index memory_limit);
/// Draws their numbers into that room.
void draw_inputs(const RandomInputs& how, std::vector<StoredTensor>& room);

} // namespace attn::model
