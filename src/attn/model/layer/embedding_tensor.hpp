// An embedding table that a tensor of a file holds.
#pragma once

#include "attn/model/layer/word_vectors.hpp"
#include "attn/tensor/view.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace attn::model {

struct EmbeddingTensor {
    std::string name;             ///< for messages
    TensorView rows;              ///< (rows, D)
    bool allow_nonfinite = false; ///< infinities and NaN
};

/// Throws Error(data) for another shape, and for a type that is not one of floating point.
[[nodiscard]] EmbeddingTensor embedding_tensor(EmbeddingTensor tensor);

/// All rows must be finite.
[[nodiscard]] VectorsOfIds vectors_of_ids(EmbeddingTensor tensor);

/// The row of a word.
using RowOf = std::function<std::optional<Index>(std::string_view word)>;

/// The rows of the words that are wanted must be finite; of others nobody knows. `row_of` may be called from several threads at
/// a time.
[[nodiscard]] VectorsOfWords vectors_of_words(EmbeddingTensor tensor, RowOf row_of);

} // namespace attn::model
