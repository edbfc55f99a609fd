// Ids → what enters the first layer.
#pragma once

#include "attn/tensor/tensor.hpp"
#include "attn/transformer/run/model.hpp"

#include <vector>

namespace attn::transformer {

/// ids (T), types (T) or none, for which there are rows → (T - first, D): the tokens from `first` on, see EmbeddingPart, which
/// is of a stack of the model.
[[nodiscard]] Matrix<float> embed(const Model& model, const EmbeddingPart& part, const std::vector<Index>& ids,
                                  const std::vector<Index>& types, Index first = 0);

/// The rows of the table of positions that the tokens take: from `first_position` on, or with `padding` the next ones behind
/// it, where a token that is the padding itself takes its row and does not count.
[[nodiscard]] std::vector<Index> position_rows(const EmbeddingPart& part, const std::vector<Index>& ids);

} // namespace attn::transformer
