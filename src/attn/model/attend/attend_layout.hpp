// The layouts of attend's tensors, all brought to (B, H, T, d).
#pragma once

#include "attn/core/gradients.hpp"
#include "attn/model/attend/attend.hpp"

namespace attn::model {

/// The inputs of core, nothing copied: split and broadcast where needed.
struct AttendViews : core::AttentionInputs {
    core::AttentionDims sizes;
    std::optional<core::LossGradients> loss = {}; ///< where there is a gradient of the results
    bool batched = true, headed = true;           ///< whether the queries have such dimensions
    bool side_by_side = false;                    ///< the heads of a position lie side by side
    bool merged = false;                          ///< in one dimension, H·d
};

/// Throws Error(data) for tensors that do not belong together, naming the shapes; Error(usage) for head counts that do not fit.
/// ModelDims are still to be read, and offsets depend on them.
[[nodiscard]] AttendViews lay_out(const AttendInputs& inputs, const Attend& options);
/// Throws Error(data) for what is wrong with the numbers of sinks, slopes, mask and kept, or with those of them that arrive;
/// of lengths only when they do, since read_numbers() reads them.
void judge_added(const AttendInputs& inputs, const AttendViews& views, const Arriving* arriving = nullptr);
/// Reads lengths, sinks, slopes and segments, and with them finds the places of the queries. Throws Error(data) for a length
/// that is out of range, a sink that is NaN or +inf, and a slope that is not finite.
void read_numbers(const AttendInputs& inputs, CausalAlign align, AttendViews& views);

/// Of queries [first, first + count).
[[nodiscard]] core::LossGradients loss_of_rows(const core::LossGradients& loss, Index first, Index count);

/// The shape of the context in the queries' layout.
[[nodiscard]] Shape context_shape(const AttendViews& views);
/// (…, heads, T, d) of (…, T, heads, d), and the other way round; nothing without heads.
[[nodiscard]] TensorView swap_heads(TensorView view);
/// (…, heads, rows, columns) as (…, rows, heads, columns); two dimensions stay as they are.
[[nodiscard]] Shape swapped_heads(Shape shape);
/// (B, H, rows, columns), without the dimensions that the queries do not have.
[[nodiscard]] Shape stage_shape(const AttendViews& views, Index heads, Index rows, Index columns);

} // namespace attn::model
