// .safetensors (https://github.com/huggingface/safetensors):
//
//   offset  bytes
//   0       8      n, the length of the header, little-endian, at most 100,000,000
//   8       n      JSON: {"W_q": {"dtype": "F32", "shape": [24, 16], "data_offsets": [0, 1536]}, …}, perhaps spaces
//   8 + n   …      the elements, row-major, little-endian; offsets count from here
//
// The tensors fill all of the file, one after another. "__metadata__" holds strings, which we write and do not use.
// The JSON is read as a stream: each tensor is checked where it stands, so that a header which makes no sense is refused at the
// first of it, and one that does takes a few times its own bytes.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/element.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::io {

/// The keys of a tensor, and the one that is no tensor's name.
namespace safetensors_key {
inline constexpr std::string_view dtype = "dtype", shape = "shape", data_offsets = "data_offsets", metadata = "__metadata__";
} // namespace safetensors_key

/// An element type of the format.
struct SafetensorsType {
    std::string_view name;
    Index bits;
    std::optional<ElementType> type; ///< nothing when we do not read it
};

struct HeaderTensor {
    std::string name;
    const SafetensorsType* type = nullptr;
    Shape shape;
    Index begin = 0, end = 0; ///< bytes behind the header, as many as shape and type need
};

struct SafetensorsHeader {
    std::deque<HeaderTensor> tensors;                          ///< in its order
    std::vector<std::pair<std::string, std::string>> metadata; ///< "schema" and "config"; whatever else there is has no use
};

/// What the header says. Throws Error(data) for what is no such JSON, for unknown types, lengths and offsets
/// that do not fit, keys that are unknown, missing or given twice, and for more than most_tensors; `what` names the header.
[[nodiscard]] SafetensorsHeader read_safetensors_header(std::string_view json, std::string_view what);

/// What the format calls a type that we read.
[[nodiscard]] std::string_view safetensors_name(ElementType type);

/// As read_tensors does; entries are in the order of their offsets.
[[nodiscard]] TensorFile read_safetensors(Bytes file, std::string_view what, std::string_view only);

} // namespace attn::io
