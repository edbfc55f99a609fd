// How much memory a run will take, before it takes any.
#pragma once

#include "attn/model/layer/parameters.hpp"
#include "attn/model/run/result.hpp"

namespace attn::model {

/// Bytes of everything that a run holds at the same time at most, estimated from above.
struct Memory {
    Index total = 0;
    Index draws = 0;          ///< of it: parameters, a table as its file gives it, and the draw under way
    Index arrays = 0;         ///< of it: embeddings, queries, keys, values, and the arrays that are kept
    std::string largest_draw; ///< "draws[1], embedding (6, 16)"; empty: none
    bool from_files = false;  ///< what takes the most of the draws comes from a file
};

/// With Recipe::verify in both types. `rows` is the number of query rows. `table_takes`: bytes of a table of embeddings that is
/// read where it is; nothing: its rows are looked for. Throws Error(too_large) when a number overflows.
[[nodiscard]] Memory required_memory(const Recipe& recipe, const ModelDims& dims, Index rows, const Show& show,
                                     std::optional<Index> table_takes = {});

/// "3,200,000,000 bytes (2.98 GiB)"
[[nodiscard]] std::string bytes_in_words(Index bytes);

/// Throws Error(too_large) with the bytes needed, the bytes there are and what to do instead, when `memory` exceeds `limit`.
void require_memory(const Memory& memory, Index limit);

} // namespace attn::model
