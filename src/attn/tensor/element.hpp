// Element types of tensors in files, and the rounding between them.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace attn {

/// float16 is IEEE 754 binary16, bfloat16 the upper half of a binary32. boolean is one byte, 0 or 1.
enum class ElementType { float16, bfloat16, float32, float64, boolean, uint8, int32, int64 };

[[nodiscard]] Index size_of(ElementType type);
/// "float16", "bfloat16", "float32", "float64", "bool", "uint8", "int32", "int64".
[[nodiscard]] std::string_view name_of(ElementType type);
/// uint8, int32 or int64; a boolean is not one.
[[nodiscard]] bool is_integer(ElementType type);
/// float16 or bfloat16.
[[nodiscard]] bool is_half(ElementType type);

/// The value that 16 bits hold, exactly.
[[nodiscard]] float from_float16(std::uint16_t bits);
[[nodiscard]] float from_bfloat16(std::uint16_t bits);
/// Rounded to nearest, ties to even; overflow gives infinity, NaN stays NaN.
[[nodiscard]] std::uint16_t to_float16(double value);
[[nodiscard]] std::uint16_t to_bfloat16(double value);

/// `values` rounded to `type`, as the little-endian bytes of a file. Scalar is float or double. To an integer they are cut
/// towards zero and must fit; to uint8 whatever does not fit becomes 0 or 255; to boolean whatever is not 0 becomes 1.
template <typename Scalar>
[[nodiscard]] std::vector<std::byte> to_bytes(ElementType type, std::span<const Scalar> values);
/// The same, to where there is room for them.
template <typename Scalar>
void to_bytes(ElementType type, std::span<const Scalar> values, std::byte* to);

} // namespace attn
