// Word vectors and embedding tensors that options or recipes name.
#pragma once

#include "attn/model/run/run.hpp"
#include "cli/input/recipe_files.hpp"

namespace attn::cli {

/// Opens what Recipe::embeddings names and puts it into the settings; the inputs keep it, and must outlive the settings. The
/// file's dimension, and its digest if that is wanted, are put into the recipe, and for ids the number of rows. Throws as
/// TensorInputs, io/words/word_vectors.hpp and model::with_vectors, and Error for a digest that is stated otherwise.
void load_embeddings(model::Recipe& recipe, const LoadedFiles& files);

/// For many sentences; before the first one.
void prepare_embeddings(const model::RunSettings& settings);

} // namespace attn::cli
