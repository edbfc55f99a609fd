// The files that a recipe names.
#pragma once

#include "attn/model/run/run.hpp"
#include "cli/input/tensor_inputs.hpp"
#include "cli/system/digest.hpp"
#include "cli/system/log.hpp"

namespace attn::cli {

/// Where the files that a recipe names are loaded to, and who hears of it.
struct LoadedFiles {
    TensorInputs& inputs; ///< keeps them
    model::RunSettings& settings;
    Log& log; ///< what the parameters were taken for, with --verbose
    Digests digests = Digests::stated;
    std::string folder = {}; ///< of the recipe, as FileSearch has it
};

/// Loads them. What is known of a file of parameters is put into the recipe, and the digests that are wanted, so that the
/// config of the result has it. Gives a warning for when all else is well. Throws as TensorInputs and
/// model/layer/checkpoint.hpp, and Error(data) for a file whose digest is another than the recipe states, and for parameters
/// that are not finite.
std::optional<std::string> load_files(model::Recipe& recipe, const LoadedFiles& files);

/// Of the mask that the recipe states or names, once its numbers have been read: a warning, if it looks like another one.
[[nodiscard]] std::optional<std::string> doubt_about_mask(const model::Recipe& recipe, const model::RunSettings& settings);

} // namespace attn::cli
