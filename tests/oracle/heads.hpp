// Queries, keys and values of one sequence as tensors, for tests of core::attention.
#pragma once

#include "attn/core/attention.hpp"

namespace oracle {

template <typename Scalar>
struct Heads {
    attn::Tensor<Scalar> queries, keys, values; ///< (H, T, d_k), (H_kv, S, d_k), (H_kv, S, d_v)
    std::vector<attn::Index> query_positions;   ///< (T)
    std::optional<attn::TensorView> mask = {};  ///< (H, T, ≤ S)
    std::vector<double> slopes = {};            ///< (H) or none
    std::vector<attn::core::ScoreParameters> score_parameters = {};
    std::optional<attn::TensorView> kept = {}; ///< (H, T, S)

    [[nodiscard]] attn::core::AttentionInputs inputs() const
    {
        using attn::core::as_batch;
        attn::core::AttentionInputs inputs{as_batch(queries), as_batch(keys), as_batch(values)};
        inputs.query_positions = query_positions;
        inputs.slopes = slopes;
        inputs.score_parameters = score_parameters;
        if (kept) {
            inputs.kept = as_batch(*kept);
        }
        if (mask) {
            inputs.mask = as_batch(*mask);
        }
        return inputs;
    }
    [[nodiscard]] bool masked(const attn::core::AttentionOptions& options) const { return inputs().masked(options); }
};

/// Stages of Heads, as core computes them.
template <typename Scalar>
attn::core::Stages<Scalar> stages_of(const Heads<Scalar>& heads, const attn::core::AttentionOptions& options,
                                     const attn::core::StageSelection& selection, const attn::core::Work& work)
{
    return attn::core::attention<Scalar>(heads.inputs(), options, selection, work);
}

} // namespace oracle
