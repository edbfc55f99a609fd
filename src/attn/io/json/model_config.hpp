// The two JSON files next to a trained model's weights, read as streams.
//
//   config.json                    {"model_type": "bert", "hidden_size": 384, "rope_parameters": {"rope_theta": 10000.0, …}, …}
//   model.safetensors.index.json   {"metadata": {…}, "weight_map": {"a.tensor": "model-00001-of-00003.safetensors", …}}
#pragma once

#include "attn/transformer/config.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

/// Every key of a config.json, flat. Throws Error(data) for what is not a JSON object, and for a key that is there twice.
[[nodiscard]] transformer::ConfigValues read_model_config(std::string_view text);

/// Which file has which tensor, by an index. Throws Error(data) for what is no such JSON, a tensor that is there twice, and a
/// file that is not a plain name of a file beside the index.
[[nodiscard]] std::map<std::string, std::string> read_weight_map(std::string_view text);

/// The files of a weight map, each once, in alphabetical order.
[[nodiscard]] std::vector<std::string> files_of(const std::map<std::string, std::string>& tensors);

} // namespace attn::io
