// The tables that `run` prints (report/text/table.hpp):
//
//   weights, head 0 (2, 3)            its name, which head where there are several, and the shape
//          Life      is   short       words of the columns, or numbers
//   Life  0.9989  0.0010  0.0001      a word or number, the numbers, and of weights perhaps their sum
//   is    0.0001  0.2071  masked
#pragma once

#include "attn/io/texts/array_text.hpp"

namespace attn::io {

/// Whether a title of such a table is among the first lines.
[[nodiscard]] bool begins_tables(std::string_view text);

/// Every table of one run, as JSON calls its array and with the dimensions that it has there: heads are one array, also one
/// alone; "layers.3.weights" of a layer. Also arrays as PyTorch prints them below such titles. What stands between them says
/// nothing. Throws Error(data): a table that lacks rows or, as on a terminal, columns.
[[nodiscard]] std::vector<ArrayText> read_tables(std::string_view text, const std::string& what);

} // namespace attn::io
