// Embeddings from a file: words, or ids, to rows of the embedding table.
#pragma once

#include "attn/model/found_vectors.hpp"
#include "attn/model/words.hpp"

#include <functional>
#include <string>

namespace attn::model {

/// What Recipe::embeddings names. find and rows may be called from several threads at a time.
struct WordVectors {
    std::string name; ///< of the file, for messages
    Index dim = 0;
    /// Of text, or of a tensor with a list of words.
    std::function<FoundVectors(const WantedWords& wanted)> find = {};
    /// Makes many searches fast; before the first one. Absent where they are anyway.
    std::function<void()> prepare = {};
    /// Of a tensor without one: so many rows, and all of them.
    Index row_count = 0;
    std::function<Tensor<double>()> rows = {};
};

struct EmbeddingTable {
    Tensor<double> rows; ///< (V, D)
    std::string warning; ///< of words that took another one's vector; empty: none did
};

/// The table of this run. Throws Error(data) for words that the file lacks, listing them, unless FileEmbeddings::unknown names
/// one that has a vector, for a tensor whose rows are not as many as V, and for numbers beyond float32 in a run of that type.
[[nodiscard]] EmbeddingTable embedding_table(const Recipe& recipe, const Words& words, const WordVectors& vectors);

} // namespace attn::model
