// Whether a file that a saved result or a recipe names is still the one that was used.
#pragma once

#include "attn/model/file_embeddings.hpp"
#include "cli/mapped_file.hpp"

#include <string>

namespace attn::cli {

/// Compares the file with the digest that is stated, or states it where none is. Throws Error(data) with both.
void require_digest(const MappedFile& file, std::string& sha256);
void require_digest(const MappedFile& file, model::FileDigest& stated);

} // namespace attn::cli
