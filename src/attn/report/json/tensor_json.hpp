// Tensor → JSON, one object on one line ("attn-cli/tensor/1").
//
//   {"schema":"attn-cli/tensor/1","name":"weights","dtype":"float32","shape":[2,2],"data":[[1.0,0.0],[0.25,0.75]]}
//
// Numbers as in json.hpp; those of float16 and bfloat16 are the decimals of the same number in float32.
#pragma once

#include "attn/tensor/buffer.hpp"
#include "attn/tensor/view.hpp"

#include <optional>
#include <string_view>

namespace attn::report {

struct TensorJson {
    std::optional<std::string_view> name = {}; ///< nothing: the object has none
    bool masked = false;                       ///< -inf is a masked score: null
};

/// A floating-point tensor. Ends with a newline. Holds one matrix at a time, whatever the size of the tensor.
void write_tensor_json(const TensorView& tensor, const TensorJson& options, Buffer& buffer);

} // namespace attn::report
