// The layouts of attend's tensors, all brought to (B, H, T, d).
#pragma once

#include "attn/model/attend/attend.hpp"

namespace attn::model {

/// The inputs of core, nothing copied: split and broadcast where needed.
struct AttendViews : core::AttentionInputs {
    core::AttentionDims sizes;
    std::size_t rank = 4;      ///< of the queries, as given
    bool side_by_side = false; ///< heads lie beside each other in the last dimension
};

/// Throws Error(data) for tensors that do not belong together, naming the shapes; Error(usage) for head counts that do not fit.
/// ModelDims are still to be read, and offsets depend on them.
[[nodiscard]] AttendViews lay_out(const AttendInputs& inputs, const Attend& options);
/// Throws Error(data) for a length that is out of range.
[[nodiscard]] std::vector<Index> read_lengths(const TensorView& lengths, const core::AttentionDims& sizes);
/// The place of query 0 among the keys of each batch entry.
[[nodiscard]] std::vector<Index> query_offsets(const AttendViews& views, CausalAlign align);

/// The shape of the context in the queries' layout.
[[nodiscard]] Shape context_shape(const AttendViews& views);
/// (B, H, rows, columns), without the dimensions that the queries do not have.
[[nodiscard]] Shape stage_shape(const AttendViews& views, Index heads, Index rows, Index columns);

} // namespace attn::model
