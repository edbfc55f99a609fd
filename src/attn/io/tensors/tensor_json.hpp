// "attn-cli/tensor/1": a tensor as JSON, as report/json/json.hpp writes it.
#pragma once

#include "attn/io/json/json_reader.hpp"
#include "attn/tensor/view.hpp"

#include <span>
#include <string_view>

namespace attn::io {

/// Throws Error(data) for what is no such object, for arrays that do not have the shape that it states, and unknown keys.
/// null, a masked score, is -inf.
[[nodiscard]] StoredTensor parse_tensor_json(std::string_view json);

/// The one of `types` that is named, and the lengths, of any array that JSON describes. Throw Error(data).
[[nodiscard]] ElementType stated_type(const JsonValue& value, std::span<const ElementType> types);
[[nodiscard]] Shape stated_shape(const JsonValue& value);

} // namespace attn::io
