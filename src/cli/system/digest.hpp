// Whether a file that a saved result or a recipe names is still the one that was used.
#pragma once

#include "attn/model/recipe/file_embeddings.hpp"
#include "cli/system/mapped_file.hpp"

#include <string>

namespace attn::cli {

/// Of which files the digests are wanted, each of which takes reading all of its file.
enum class Digests {
    stated, ///< those that a saved result or a recipe states
    all,    ///< of every file: the config that is written will state them
};

/// Whether a digest is stated, and is that of the file.
[[nodiscard]] bool has_digest(const MappedFile& file, const std::string& sha256);
[[nodiscard]] bool has_digest(const MappedFile& file, const model::FileDigest& stated);

/// Compares the file with the digest that is stated; where none is, states it if all are wanted. Throws Error(data) with both.
void require_digest(const MappedFile& file, std::string& sha256, Digests wanted);
void require_digest(const MappedFile& file, model::FileDigest& stated, Digests wanted);

} // namespace attn::cli
