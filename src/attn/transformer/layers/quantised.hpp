// Rows of weights in quantised blocks, as ggml's formats have them (ggml-common.h and ggml-quants.c of ggml-org/ggml).
//
// A row is blocks, one behind the other. d and m are float16, s, c and q small integers; number i of a block is
//
//   format  numbers  bytes  number i
//   Q8_0         32     34  d·q                    q from -128 to 127
//   Q4_0         32     18  d·(q - 8)              q of 4 bits
//   Q4_1         32     20  d·q + m
//   Q5_0         32     22  d·(q - 16)             q of 5 bits, the highest ones apart
//   Q5_1         32     24  d·q + m
//   Q4_K        256    144  (d·s)·q - (m·c)        s and c of 6 bits for each 32 numbers, q of 4 bits
//   Q5_K        256    176  (d·s)·q - (m·c)        q of 5 bits, the highest ones apart
//   Q6_K        256    210  (d·s)·(q - 32)         s of 8 bits for each 16 numbers, q of 6 bits, the two highest ones apart
//
// in float32, each product and each sum rounded: the bytes that ggml's own functions give.
#pragma once

#include "attn/tensor/shape.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace attn::transformer {

struct BlockFormat {
    std::string_view name;
    Index numbers, bytes; ///< of a block; `numbers` divides `chunk` of kernels.hpp, or is it
    /// The numbers of the block at `from`, which need not be aligned.
    void (*widen)(const std::byte* from, float* to);
};

[[nodiscard]] std::span<const BlockFormat> block_formats();
/// Null when there is none of that name.
[[nodiscard]] const BlockFormat* block_format(std::string_view name);

} // namespace attn::transformer
