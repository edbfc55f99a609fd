// A batch: a recipe with several inputs, its entries. Each gives a result of its own, with the same parameters.
//
// Libraries draw what a batch has of its own in one go, (B, …). So each entry draws all of it, too, and keeps its part:
//
//   embeddings (B, T, D)   key_embeddings (B, S, D)   what dropout keeps (B, H, T, S)
//
// Embeddings that are stated, or whose shape is, may be (T, D): the entries share them. A mask that is stated may be
// (B, H, T, S), where H and T may be 1.
#pragma once

#include "attn/model/recipe/overrides.hpp"
#include "attn/model/recipe/recipe.hpp"

#include <optional>

namespace attn::model {

/// How many entries there are; nothing: the input is not a batch.
[[nodiscard]] std::optional<Index> batch_size(const Recipe& recipe);

/// Whether the recipe is about all of its entries.
[[nodiscard]] bool is_whole_batch(const Recipe& recipe);

/// Which of them the recipe is about; 0 without a batch. Throws Error when it says none, one that is not there, or one without
/// a batch: usage or data, as `origin` says who is at fault.
[[nodiscard]] Index entry_of(const Recipe& recipe, const Origin& origin = {});

/// The recipe with draws that keep what this entry has of the embeddings. Throws Error(data) for (n, T, D) where n is not B.
[[nodiscard]] Recipe with_draws_of(Index entry, Recipe recipe);

/// The shape of a tensor by position without a batch of one in front, (1, T, D), and that of a single position of which the
/// numbers alone are there, (D): as PyTorch prints them. Of another tensor the shape itself.
[[nodiscard]] Shape without_batch_of_one(Shape shape, Target target);

/// The part of a stated tensor (B, …).
[[nodiscard]] Literal part_of(const Literal& literal, Index entry);

} // namespace attn::model
