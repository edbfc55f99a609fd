// Result → JSON, one object on one line ("attn-cli/result/1", of a whole trained model "attn-cli/result/2", the keys in the
// order of model/run/result.hpp).
//
// Numbers are the shortest decimals that read back to the same float; infinities and NaN are the strings "inf", "-inf" and
// "nan"; in masked_scores a masked place is null.
#pragma once

#include "attn/model/check/check.hpp"
#include "attn/model/run/result.hpp"
#include "attn/tensor/buffer.hpp"
#include "attn/tensor/view.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::report {

/// The config of results that differ in nothing but their sentence, which goes between two constant texts.
struct ConfigText {
    std::string before, after;
};
[[nodiscard]] ConfigText config_text(const model::Recipe& recipe);

struct JsonOptions {
    std::optional<Index> index = {};    ///< among several results: the line's number with --lines
    const ConfigText* config = nullptr; ///< of a plain run, where it is made already
};

/// Ends with a newline. The config is the recipe without its published numbers; "verify" is
/// {"weights":{"absolute":1e-08,"relative":2e-07},…}. Of a whole trained model: tokens and ids, then
/// "layers":[{"layer":3,"heads":[1],"weights":…},…] with the keys of a result, "logits" and what they say.
void write_json(const model::Result& result, const JsonOptions& options, Buffer& buffer);

/// {"index":n,"error":{"code":65,"message":"…"}} and a newline: the answer to a line that could not be computed.
void write_json_error(Index index, int code, std::string_view message, Buffer& buffer);

/// A recipe as parse_recipe reads it, for people to read and change: a line for each key, step of the draws and published
/// array, and a newline. The round trip gives an equal recipe.
void write_recipe(const model::Recipe& recipe, Buffer& buffer);

/// What a .safetensors of a result says apart from its tensors: texts by name, the "schema" and the "config" of the JSON.
using Texts = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Texts metadata_of(const model::Recipe& config);
[[nodiscard]] Texts metadata_of(const model::TrainedConfig& config);

// Tensor → JSON, one object on one line ("attn-cli/tensor/1").
//
//   {"schema":"attn-cli/tensor/1","name":"weights","dtype":"float32","shape":[2,2],"data":[[1.0,0.0],[0.25,0.75]]}
//
// Numbers as above; those of float16 and bfloat16 are the decimals of the same number in float32.

struct TensorJson {
    std::optional<std::string_view> name = {}; ///< nothing: the object has none
    bool masked = false;                       ///< -inf is a masked score: null
};

/// A floating-point tensor. Ends with a newline. Holds one matrix at a time, whatever the size of the tensor.
void write_tensor_json(const TensorView& tensor, const TensorJson& options, Buffer& buffer);

} // namespace attn::report
