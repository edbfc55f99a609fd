// Arrays between brackets, as PyTorch, NumPy, TensorFlow and JAX print them and articles therefore show them, and lists of
// Python and JSON:
//
//   tensor([[0.2961, 0.5166],               [[0.29 0.51]       tf.Tensor(                          {"W_q": [[1, 0], [0, 1]],
//           [0.2517, 0.6886]], grad_fn=<MmBackward0>)     [0.25 0.68]]     [[0.29 0.51]], shape=(1, 2), dtype=float32)
#pragma once

#include "attn/io/texts/array_text.hpp"
#include "attn/tensor/text_list.hpp"

#include <string>
#include <string_view>

namespace attn::io {

struct PrintedArray : TextArray {
    math::PrintedDigits digits; ///< of all numbers
};

/// Commas or white space stand between the numbers; a title before them, tensor(…), array(…) and "Parameter containing:" around
/// them and what follows them (grad_fn, dtype, …) say nothing. Throws Error(data), naming `what`: something else, rows of
/// different lengths, numbers left out as "...". Throws Error(too_large) for 4 GiB and more.
[[nodiscard]] PrintedArray parse_printed_array(std::string_view text, const std::string& what);

/// Whether a text is such an array, or several: it begins so, or behind a title, one line or what ends with ":" or "=" in it.
[[nodiscard]] bool begins_printed_arrays(std::string_view text);

/// All that a text holds: one without a name, whatever its title, or several whose titles are their names, or those of an
/// object of JSON or a dict of Python, which may be within one another: "encoder.W_q". Lists of numbers below each other are
/// the rows of one array. Throws as parse_printed_array, but as places lines and columns, and Error(data) for several without
/// names.
[[nodiscard]] std::vector<ArrayText> read_printed_arrays(std::string_view text, const std::string& what);

/// Whether one begins there, without a title.
[[nodiscard]] bool is_printed_array_at(std::string_view text, std::size_t begin);
/// The one that begins there; moves `begin` behind it.
[[nodiscard]] ArrayText read_printed_array_at(std::string_view text, const std::string& what, std::size_t& begin);

} // namespace attn::io
