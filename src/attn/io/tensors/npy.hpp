// NumPy's files: .npy of one array, .npz of several.
#pragma once

#include "attn/io/bytes.hpp"
#include "attn/io/tensors/tensor_file.hpp"

namespace attn::io {

// .npy, NumPy's file of one array (numpy/lib/format.py, "NEP 1").
//
//   offset  bytes
//   0       6       \x93NUMPY
//   6       2       version: 1.0, 2.0 or 3.0
//   8       2 or 4  n, the length of the header, little-endian; two bytes in version 1
//   10, 12  n       {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   spaces, newline
//   …               the elements, to the end of the file
//
// The header is a Python literal in Latin-1, in version 3 in UTF-8; only the names of a structured type, which we do not read,
// could tell the two apart.
//
// bfloat16, which NumPy does not have, is stored as ml_dtypes stores it: '<V2', two bytes that say no type. They are read where
// the reader is told what they are (Untyped).

inline constexpr std::string_view npy_magic = "\x93NUMPY";
/// NumPy's own limit of the header, and the bytes of a file that are enough to read it.
inline constexpr std::size_t npy_header_most = 10000;
inline constexpr std::size_t npy_front = 12 + npy_header_most;

struct NpyHeader {
    std::string dtype;               ///< what 'descr' says: "<f4"; the whole text of a structured type
    std::optional<ElementType> type; ///< nothing when we do not read it
    bool untyped = false;            ///< two bytes that say no type
    bool swapped = false;
    bool fortran_order = false;
    Shape shape;
    std::size_t data = 0; ///< where the elements begin
};

/// What two bytes of no type are.
enum class Untyped { refused, bfloat16 };

/// `front` is a file or its first `npy_front` bytes. Throws Error(data), naming `what`.
[[nodiscard]] NpyHeader read_npy_header(Bytes front, std::string_view what, Untyped untyped = Untyped::refused);
/// Throws Error(data) for elements that say a type, where it was said what they are.
void require_untyped(const NpyHeader& header, std::string_view what);

/// The elements of a file of which the header was read. Throws Error(data) for an unsupported type, or unless the file holds
/// exactly what the shape asks for.
[[nodiscard]] TensorView npy_view(const NpyHeader& header, Bytes file, std::string_view what);
/// The latter check by itself, for a file of which only the size is known.
void require_npy_size(const NpyHeader& header, Index file_size, std::string_view what);

[[nodiscard]] TensorFile read_npy(Bytes file, std::string_view what, Untyped untyped = Untyped::refused);

/// What stands before the elements; the whole is a multiple of 64 bytes.
[[nodiscard]] std::string npy_header(ElementType type, const Shape& shape);

/// Throws Error(data): `what` has elements of a type that we do not read, or of none.
[[noreturn]] void refuse_type(const std::string& what, std::string_view type);

// .npz, NumPy's archive of arrays: a ZIP archive (zip.hpp) whose members are .npy files (npy.hpp) named "<array>.npy".

/// What stands behind a name, or alone behind FILE:, and says so.
inline constexpr std::string_view bfloat16_said = ":bfloat16";
/// What `said` behind FILE: asks for, in a file of these names: "q", "q:bfloat16", or "bfloat16" of all that say no type.
struct WantedTensor {
    std::string_view name; ///< empty: all, or the only one
    Untyped untyped = Untyped::refused;
};
[[nodiscard]] WantedTensor wanted_tensor(std::string_view said, std::span<const std::string> names);

/// As open_tensors does. Sizes, ratio and headers are checked before there is room for a deflated member.
[[nodiscard]] TensorFile open_npz(Bytes file, std::string_view what, std::string_view only, Index inflate_limit);

/// As tensor_names does.
[[nodiscard]] std::vector<std::string> npz_names(Bytes file, std::string_view what);

} // namespace attn::io
