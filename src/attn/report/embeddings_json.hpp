// Embeddings from a file, in a recipe's JSON.
#pragma once

#include "attn/model/file_embeddings.hpp"
#include "attn/report/json_writer.hpp"

namespace attn::report {

/// The member "embeddings"; io/recipe_parts.cpp reads it.
void write_embeddings(JsonWriter& json, const model::FileEmbeddings& embeddings);

} // namespace attn::report
