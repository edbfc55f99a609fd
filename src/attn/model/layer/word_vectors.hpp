// Embeddings from a file: words, or ids, to rows of the embedding table.
#pragma once

#include "attn/model/layer/found_vectors.hpp"
#include "attn/model/layer/words.hpp"
#include "attn/tensor/view.hpp"

#include <functional>
#include <string>
#include <variant>

namespace attn::model {

/// Of text, or of a tensor with a list of words. find may be called from several threads at a time.
struct VectorsOfWords {
    std::string name; ///< of the file, for messages
    Index dim = 0;
    std::function<FoundVectors(const WantedWords& wanted)> find;
    /// Makes many searches fast; before the first one. Absent where they are anyway.
    std::function<void()> prepare = {};
    bool integers = false; ///< all numbers, which a type must hold exactly
};

/// Of a tensor without a list of words. rows may be called from several threads at a time.
struct VectorsOfIds {
    std::string name; ///< of the file, for messages
    Index dim = 0;
    Index count = 0;                   ///< of rows
    std::function<Index()> takes = {}; ///< bytes of memory that rows() is yet to take; empty: the file's own serve
    /// All of them (count, dim), for a run of this type. Throws Error(data) for numbers that it does not hold.
    std::function<NamedTensor(Dtype dtype)> rows;
};

/// What Recipe::embeddings names.
using WordVectors = std::variant<VectorsOfWords, VectorsOfIds>;

/// The recipe with what the vectors decide: the dimension, and of ids the number of rows. Throws Error where the recipe states
/// another one or does not go with such vectors: usage or data, as `origin` says who is at fault.
[[nodiscard]] Recipe with_vectors(Recipe recipe, const WordVectors& vectors, const Origin& origin = {});

struct EmbeddingTable {
    NamedTensor rows;    ///< (V, D)
    std::string warning; ///< of words that took another one's vector; empty: none did
};

/// The table of this run. Throws Error(data) for words that the file lacks, listing them, unless FileEmbeddings::unknown names
/// one that has a vector, for a tensor whose rows are not as many as V, and for numbers beyond float32 in a run of that type.
/// A word for the unknown that the file lacks is a matter of usage or data, as `origin` says.
[[nodiscard]] EmbeddingTable embedding_table(const Recipe& recipe, const Words& words, const WordVectors& vectors,
                                             const Origin& origin = {});

} // namespace attn::model
