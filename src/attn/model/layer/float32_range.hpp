// Numbers of a file that a run in float32 cannot hold.
#pragma once

#include "attn/tensor/view.hpp"

#include <string>

namespace attn::model {

/// Throws Error(data) naming `what` and the first finite number that float32 would make infinite; only float64 has such.
void require_float32_range(const TensorView& view, const std::string& what);

} // namespace attn::model
