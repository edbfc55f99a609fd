// Ids → what enters the first layer.
#pragma once

#include "attn/tensor/tensor.hpp"
#include "attn/transformer/run/model.hpp"

#include <vector>

namespace attn::transformer {

/// ids (T), types (T) or none, for which there are rows → (T, D), see EmbeddingPart.
[[nodiscard]] Matrix<float> embed(const Model& model, const std::vector<Index>& ids, const std::vector<Index>& types);

/// The rows of the table of positions that the tokens take: 0, 1, 2, …, or with `padding` the next ones behind it, where a
/// token that is the padding itself takes its row and does not count.
[[nodiscard]] std::vector<Index> position_rows(const std::vector<Index>& ids, std::optional<Index> padding);

} // namespace attn::transformer
