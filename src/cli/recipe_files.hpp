// The files that a recipe names.
#pragma once

#include "attn/model/run.hpp"
#include "cli/tensor_inputs.hpp"

namespace attn::cli {

/// Loads them into `settings`; `inputs` keeps them. A digest that the recipe does not state is put in, so that the config of
/// the result has it. Throws as TensorInputs, and Error(data) for a file whose digest is another than the recipe states.
void load_files(model::Recipe& recipe, TensorInputs& inputs, model::RunSettings& settings);

} // namespace attn::cli
