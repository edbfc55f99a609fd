// A result of `run` as tensors in a file, by the names of the JSON.
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/tensor/buffer.hpp"
#include "cli/options/format.hpp"

namespace attn::cli {

/// The arrays that are shown: ids and positions as int64, parameters, everything computed; a .safetensors also says the schema
/// and the config. Of a whole trained model those of a layer are called "layers.3.weights". Throws Error(usage) when only words
/// are shown.
void write_result_tensors(const model::Result& result, Format format, Buffer& out);

} // namespace attn::cli
