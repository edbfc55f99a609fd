// CSV as `run` writes it (report/csv.hpp): one record per number, with its place in the array.
//
//   array,head,row,column,query_token,key_token,value      in front "index", of several results; behind "array" "layer"
//   weights,0,0,0,Life,Life,0.9988521                      a masked score has no value
#pragma once

#include "attn/io/texts/array_text.hpp"

namespace attn::io {

[[nodiscard]] bool begins_long_csv(std::string_view text);

/// Arrays as JSON calls them, "line 2 weights" of one of several results, "layers.3.weights" of a layer. Throws Error(data):
/// records that do not make a whole array.
[[nodiscard]] std::vector<ArrayText> read_long_csv(std::string_view text, const std::string& what);

} // namespace attn::io
