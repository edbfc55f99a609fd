// Where a recipe's embeddings come from when they are not drawn.
#pragma once

#include "attn/tensor/shape.hpp"

#include <optional>
#include <string>

namespace attn::model {

/// By which a file is known again: its digest, or, where reading all of a large file would take longer than the search in it,
/// the digest of pieces of it and its length (io/digest.hpp).
struct FileDigest {
    std::string sha256 = {};        ///< of the whole file, 64 hexadecimal digits; empty: not stated
    std::string sha256_sample = {}; ///< of the pieces; empty: not stated
    std::optional<Index> bytes = {};

    [[nodiscard]] bool stated() const { return !sha256.empty() || !sha256_sample.empty() || bytes.has_value(); }
    bool operator==(const FileDigest&) const = default;
};

/// A file of words, one per line.
struct WordListFile {
    std::string file = {};
    FileDigest digest = {};

    bool operator==(const WordListFile&) const = default;
};

/// Word vectors as text, or the rows of a tensor. The library opens no file: who runs the recipe loads it
/// (RunSettings::word_vectors).
struct FileEmbeddings {
    std::string file = {};                   ///< relative to the recipe, or to where the program runs
    std::string name = {};                   ///< of a tensor; empty: the only one of the file, or no tensor
    std::optional<WordListFile> words = {};  ///< of a tensor's rows; absent: rows are ids
    std::optional<std::string> unknown = {}; ///< the word whose vector those have that the file lacks
    bool allow_nonfinite = false;            ///< infinities and NaN
    FileDigest digest = {};

    bool operator==(const FileEmbeddings&) const = default;
};

} // namespace attn::model
