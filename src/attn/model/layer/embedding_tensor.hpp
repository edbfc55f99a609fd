// An embedding table that a tensor of a file holds.
#pragma once

#include "attn/model/layer/word_vectors.hpp"
#include "attn/tensor/view.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace attn::model {

/// Throws Error(data) for a shape other than (rows, D), and for booleans.
void require_table(const NamedTensor& table);

/// Its numbers are read when they are asked for. All must be finite, unless infinities and NaN are allowed.
[[nodiscard]] VectorsOfIds vectors_of_ids(NamedTensor table, bool allow_nonfinite);

/// The row of a word.
using RowOf = std::function<std::optional<Index>(std::string_view word)>;

/// Likewise; the rows of the wanted words must be finite; others are not checked. `row_of` may be called from several
/// threads at a time.
[[nodiscard]] VectorsOfWords vectors_of_words(NamedTensor table, bool allow_nonfinite, RowOf row_of);

} // namespace attn::model
