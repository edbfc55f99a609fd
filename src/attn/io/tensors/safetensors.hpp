// .safetensors (https://github.com/huggingface/safetensors):
//
//   offset  bytes
//   0       8      n, the length of the header, little-endian, at most 100,000,000
//   8       n      JSON: {"W_q": {"dtype": "F32", "shape": [24, 16], "data_offsets": [0, 1536]}, …}, perhaps spaces
//   8 + n   …      the elements, row-major, little-endian; offsets count from here
//
// The tensors fill all of the file, one behind the other. "__metadata__" holds strings, which we write and do not use.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/io/tensors/tensor_file.hpp"

namespace attn::io {

/// As read_tensors does; entries are in the order of their offsets.
[[nodiscard]] TensorFile read_safetensors(Bytes file, std::string_view what, std::string_view only);

} // namespace attn::io
