// Arrays as PyTorch and NumPy print them, and as articles therefore show them:
//
//   tensor([[0.2961, 0.5166],               [[0.29 0.51]
//           [0.2517, 0.6886]], grad_fn=<MmBackward0>)     [0.25 0.68]]
#pragma once

#include "attn/math/decimal.hpp"
#include "attn/tensor/text_list.hpp"

#include <string>
#include <string_view>

namespace attn::io {

struct PrintedArray : TextArray {
    math::PrintedDigits digits; ///< of all numbers
};

/// Whether a text is one: it begins so, or behind a title, one line or what ends with ":" or "=" in it. A byte order mark
/// counts for nothing.
[[nodiscard]] bool is_printed_array(std::string_view text);
/// Whether a text that goes on may be one.
[[nodiscard]] bool may_begin_printed_array(std::string_view front);

/// Commas or white space stand between the numbers; a title before them, tensor(…), array(…) and "Parameter containing:" around
/// them and what follows them (grad_fn, dtype, …) say nothing. Throws Error(data), naming `what`: something else, rows of
/// different lengths, numbers left out as "...". Throws Error(too_large) for 4 GiB and more.
[[nodiscard]] PrintedArray parse_printed_array(std::string_view text, const std::string& what);

} // namespace attn::io
