// A result of `run` as tensors in a file, by the names of the JSON.
#pragma once

#include "attn/model/trained/layered_result.hpp"
#include "cli/options/format.hpp"
#include "cli/output/output.hpp"

namespace attn::cli {

/// The arrays that are shown: ids and positions as int64, parameters, everything computed; a .safetensors also says the schema
/// and the config. Throws Error(usage) when only words are shown.
void write_result_tensors(const model::Result& result, Format format, Output& output);
/// Those of a layer are called "layers.3.weights".
void write_result_tensors(const model::LayeredResult& result, Format format, Output& output);

} // namespace attn::cli
