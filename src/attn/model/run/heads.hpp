// One head of several, some of them, or the mean of all.
#pragma once

#include "attn/model/recipe/overrides.hpp"
#include "attn/model/run/result.hpp"

namespace attn::model {

[[nodiscard]] inline bool is_mean(const std::vector<Index>& heads)
{
    return heads.size() == 1 && heads.front() == mean_of_heads;
}

/// "2", or "mean".
[[nodiscard]] std::string number_of_head(Index head);

/// The heads that Recipe::head or --head names, ascending and each once; mean_of_heads and nothing are what they were. Throws
/// Error for one that is none of so many, naming those, `where` they are, and the option by which there would be more where
/// `more` is given: usage or data, as `origin` says who named it.
[[nodiscard]] std::vector<Index> heads_of(const std::vector<Index>& named, Index count, const Origin& origin,
                                          const FieldInfo* more = nullptr, std::string_view where = {});

/// The key/value heads that these query heads read, each once.
[[nodiscard]] std::vector<Index> key_heads_of(const std::vector<Index>& heads, Index H, Index H_kv);

/// What is left of the heads that arrays have.
struct KeptHeads {
    std::vector<Index> queries = {}; ///< places in arrays (H, …), ascending; mean_of_heads: their mean; empty: all
    std::vector<Index> keys = {};    ///< likewise in arrays (H_kv, …)
    core::Rounding rounding = core::Rounding::stage; ///< of the mean: added up in the order of heads, then divided
};
/// Leaves those heads of arrays; with a mean, no other array by head.
void keep_heads(std::vector<Array>& arrays, const KeptHeads& kept);

} // namespace attn::model
