// The arrays of a result as JSON, in the form of a file of tensors.
#pragma once

#include "attn/io/tensors/tensor_file.hpp"
#include "cli/system/mapped_file.hpp"

namespace attn::cli {

/// With the metadata that `run` writes into a .safetensors. Throws Error(data), naming the file, for what is no result, and for
/// several.
[[nodiscard]] io::TensorFile tensors_of_result(const MappedFile& file);

} // namespace attn::cli
