// "attn-cli/tensor/1": a tensor as JSON, as report/json/json.hpp writes it.
#pragma once

#include "attn/tensor/view.hpp"

#include <string_view>

namespace attn::io {

/// Throws Error(data) for what is no such object, for arrays that do not have the shape that it states, and unknown keys.
/// null, a masked score, is -inf.
[[nodiscard]] StoredTensor parse_tensor_json(std::string_view json);

} // namespace attn::io
