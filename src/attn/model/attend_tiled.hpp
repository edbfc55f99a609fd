// attend by the tiled path of core: inputs read where they are, stages written where they are to stand.
#pragma once

#include "attn/core/tiled.hpp"
#include "attn/model/attend_layout.hpp"

namespace attn::model {

/// Whether it is computed in float64.
[[nodiscard]] bool is_wide(const AttendViews& views);

/// What the tiled path does not compute: float64, another softmax type; empty when it computes all. How far the numbers reach
/// is another question, see tiled_inputs.
[[nodiscard]] std::string_view beyond_tiles(const AttendViews& views, const Attend& options);

/// Whether every input is read where it is; otherwise one key/value head after the other is converted to float32.
[[nodiscard]] bool tiles_read_in_place(const AttendViews& views);

/// All of it, as core takes it, and how far it reaches. Views that tiles cannot read are in it, too.
[[nodiscard]] core::TiledInputs tiled_inputs(const AttendViews& views, const Attend& options);

/// Fills the tensors, which are zero. `all` are the tiled_inputs of the views, not beyond reach.
void attend_tiled(const AttendViews& views, const core::TiledInputs& all, const Attend& options, const RunSettings& settings,
                  std::vector<StoredTensor>& tensors, const core::Work& work);

} // namespace attn::model
