// .gguf, the format of llama.cpp (docs/gguf.md of ggml-org/ggml), versions 2 and 3, little-endian:
//
//   "GGUF"  u32 version  u64 tensors  u64 keys
//   keys:     text key  u32 kind  value                  text: u64 size, so many bytes
//   tensors:  text name  u32 n  u64 × n lengths  u32 type  u64 offset
//   zeros up to a multiple of general.alignment (32 when it is not there)
//   data:     each tensor at its offset from here, a multiple of the alignment
//
//   value:  a number of 1 to 8 bytes, a bool of one byte, a text, or a list: u32 kind of its elements, u64 count, elements
//
// Lengths come with the one first that varies fastest: the columns of a matrix, then its rows.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/tensor/view.hpp"
#include "attn/transformer/layers/quantised.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attn::io {

enum class GgufKind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };

/// Elements of one kind in the file, none of them a list.
struct GgufList {
    GgufKind kind = GgufKind::u8;
    std::size_t count = 0;
    Bytes bytes = {};

    /// Whether it is the same place of the same file.
    [[nodiscard]] bool operator==(const GgufList& other) const
    {
        return kind == other.kind && count == other.count && bytes.data() == other.bytes.data();
    }
};
/// Numbers of every kind as double: those beyond 2^53 round.
using GgufValue = std::variant<bool, double, std::string_view, GgufList>;

struct GgufTensor {
    TensorView view;                                  ///< the shape with its rows first; of blocks the bytes of each row, uint8
    const transformer::BlockFormat* blocks = nullptr; ///< null: numbers
};

/// All of it lies in the file, which outlives it.
struct GgufFile {
    std::map<std::string_view, GgufValue> metadata;
    std::map<std::string_view, GgufTensor> tensors; ///< by name
};

/// Throws Error(data) for what is no such file, counts and sizes that the file has no room for (before anything is made of
/// them), a list of lists, a key or tensor that is there twice, tensors that overlap or end behind the file, and for types of
/// tensors other than F32, F16, BF16 and transformer::block_formats().
[[nodiscard]] GgufFile read_gguf(Bytes file);

/// The elements of a list; `key` is for messages. Throws Error(data) for one of another kind.
[[nodiscard]] std::vector<std::string_view> texts_of(const GgufList& list, std::string_view key);
[[nodiscard]] std::vector<double> numbers_of(const GgufList& list, std::string_view key);

/// As a message names it: "'a text'", "a list of 3".
[[nodiscard]] std::string written(const GgufValue& value);

} // namespace attn::io
