// Tensors in files: .npy, .npz and .safetensors, from bytes to views and back. The formats are drawn in npy.hpp, npz.hpp and
// safetensors.hpp.
#pragma once

#include "attn/tensor/view.hpp"

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

enum class TensorFormat { npy, npz, safetensors };

/// Tensors by name, in the file's order. Views point into the bytes that were read, or into `inflated`.
struct TensorFile {
    struct Entry {
        std::string name; ///< "" for the one tensor of an .npy
        TensorView view;
    };
    std::vector<Entry> entries;
    std::deque<std::vector<std::byte>> inflated; ///< what was deflated in an .npz
};

/// What the first bytes say. Throws Error(data) when they are none of the three.
[[nodiscard]] TensorFormat format_of(std::span<const std::byte> bytes, std::string_view what);

/// Reads any of the three. `only`, when not empty, is the one tensor that is wanted: of an .npz no other one is inflated.
/// `inflate_limit` bounds the bytes that deflated members may take together. Throws Error(data) for anything that breaks the
/// format, before allocating more than the bytes justify; `what` names the file in messages.
[[nodiscard]] TensorFile read_tensors(std::span<const std::byte> bytes, std::string_view what, std::string_view only = {},
                                      Index inflate_limit = Index{1} << 40);

/// What is written: row-major little-endian bytes.
struct TensorBytes {
    std::string name;
    ElementType type;
    Shape shape;
    std::span<const std::byte> bytes;
};
using ByteSink = std::function<void(std::string_view)>;
void write_npy(const TensorBytes& tensor, const ByteSink& sink);
/// Stored, not deflated; times are fixed, so that the same tensors give the same bytes.
void write_npz(const std::vector<TensorBytes>& tensors, const ByteSink& sink);
/// Sorted by name; data aligned to 8 bytes as the reference implementation writes it.
void write_safetensors(const std::vector<TensorBytes>& tensors, const ByteSink& sink);

} // namespace attn::io
