// Sequences of different lengths that lie one after another, (total, H, d), as FlashAttention's varlen functions take them.
#pragma once

#include "attn/core/parallel.hpp"
#include "attn/model/attend/attend_layout.hpp"

namespace attn::model {

/// (N+1) each: where every sequence begins, and the last one ends.
struct Boundaries {
    std::vector<Index> queries, keys;
};

/// Throws Error(data) for numbers that do not rise from 0 to the number of queries or keys.
[[nodiscard]] Boundaries read_boundaries(const AttendInputs& inputs, const core::AttentionDims& sizes);

/// Every sequence by itself, one after the other, with the numbers that it would give alone. No output is kept that has a
/// number for each query and key.
[[nodiscard]] core::AttentionNotes attend_packed(const Boundaries& sequences, const AttendViews& views, const Attend& options,
                                                 const core::AttentionOutputs& outputs, const core::Work& work);

} // namespace attn::model
