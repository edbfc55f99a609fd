// Raw numbers (.bin), for programs that have no reader of tensor files. Arrays lie one after another, row-major and
// little-endian; each begins at a multiple of 64 bytes, with zeros before it. What they are says a header, one line of JSON in
// a file beside it (.bin.json):
//
//   {"schema":"attn-cli/raw/1","bytes":88,"arrays":[{"name":"queries","dtype":"float32","shape":[1,2],"offset":0},
//                                                   {"name":"context","dtype":"float64","shape":[3],"offset":64}]}
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/io/tensors/tensor_file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

/// Of tensors that are row-major and little-endian, as the other writers.
void write_raw(const std::vector<NamedTensor>& tensors, Buffer& buffer);
/// The header of what write_raw() writes; ends with a newline.
[[nodiscard]] std::string raw_header(const std::vector<NamedTensor>& tensors);

/// Views into `numbers`. Arrays may begin anywhere. Throws Error(data) for what is no such header, or one of other numbers:
/// another number of bytes, an array that ends beyond them, a name that is given twice.
[[nodiscard]] TensorFile read_raw(std::string_view header, Bytes numbers);

} // namespace attn::io
