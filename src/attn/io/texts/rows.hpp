// A matrix as rows of numbers: what np.savetxt writes, and CSV of other programs.
//
//   # by np.savetxt             Life,is,short           ,0,1
//   1.0e+00 2.5e-01             0.5,0.25,0.25           Life,0.5,0.5        words of columns and of rows, or none
#pragma once

#include "attn/io/texts/array_text.hpp"

namespace attn::io {

/// Whether the first lines are such rows.
[[nodiscard]] bool begins_rows(std::string_view text);

/// White space, commas, semicolons or tabs stand between the numbers, which of them the first line decides; lines that begin
/// with "#" say nothing. One column is a vector, (n,). Blank lines stand between matrices of the same shape, which are heads,
/// (H, T, S), or between all rows. Throws Error(data): rows of different lengths, words among the numbers.
[[nodiscard]] ArrayText read_rows(std::string_view text, const std::string& what);

} // namespace attn::io
