// Tensors in files: .npy, .npz and .safetensors, from bytes to views and back. The formats are drawn in npy.hpp, zip.hpp and
// safetensors.hpp.
#pragma once

#include "attn/tensor/buffer.hpp"
#include "attn/tensor/view.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::io {

/// In one file. Models split into files have some hundred in each, mixtures of experts a few thousand; each takes up to
/// a kilobyte when two files are compared, whatever its bytes.
inline constexpr std::size_t most_tensors = 100'000;

enum class TensorFormat { npy, npz, safetensors };

/// Of a .safetensors: texts by name, UTF-8. An .npz has at most one, in the comment of its archive.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Tensors by name, in the file's order. Views point into the bytes that were read, except those that were deflated in an .npz.
struct TensorFile {
    /// A tensor of an element type that we do not read, such as int32: an error only if it is asked for.
    struct Unsupported {
        std::string name;
        std::string type; ///< as the file calls it: "I32", "<i4"
    };
    std::vector<NamedTensor> entries;
    std::vector<Unsupported> unsupported;
    Metadata metadata = {}; ///< of a .safetensors, no more than the "schema" and "config" that `run` writes; of an .npz "right"

    /// The entry of that name. Throws Error(data), naming `what`, when there is none, or one of an unsupported type.
    [[nodiscard]] const NamedTensor& at(std::string_view name, std::string_view what) const;

    /// Of all entries.
    void read_numbers() const;
};

/// What the first bytes say. Throws Error(data) when they are none of the three; `beside` names what else would do, "JSON, or
/// ".
[[nodiscard]] TensorFormat format_of(std::span<const std::byte> bytes, std::string_view what, std::string_view beside = "");

/// Whether the first bytes are those of one of the three.
[[nodiscard]] bool is_tensor_file(std::span<const std::byte> bytes);

/// The names of all tensors, of those too that cannot be read, in the file's order; "" for the one of an .npy. Inflates
/// nothing. Throws Error(data) as read_tensors.
[[nodiscard]] std::vector<std::string> tensor_names(std::span<const std::byte> bytes, std::string_view what);

/// Reads any of the three. `only`, when not empty, is the one tensor that is wanted, and then the one entry: of an .npz no
/// other is looked at. Of an .npy and an .npz it may also say what two bytes of no type are (wanted_tensor of npy.hpp).
/// `inflate_limit` bounds the bytes that deflated members may take together. Throws Error(data) for anything that breaks the
/// format, before allocating more than the bytes justify, and for an unsupported type of the wanted tensor or of an .npy;
/// `what` names the file in messages.
[[nodiscard]] TensorFile read_tensors(std::span<const std::byte> bytes, std::string_view what, std::string_view only = {},
                                      Index inflate_limit = Index{1} << 40);
/// The same, except for the numbers of an .npz: NamedTensor::read inflates them and checks the CRC-32, so that whoever judges
/// shapes can refuse them before megabytes become gigabytes.
[[nodiscard]] TensorFile open_tensors(std::span<const std::byte> bytes, std::string_view what, std::string_view only = {},
                                      Index inflate_limit = Index{1} << 40);

/// Of tensors that are row-major and little-endian. bfloat16 goes into .npy and .npz as two bytes of no type (npy.hpp).
void write_npy(const NamedTensor& tensor, Buffer& buffer);
/// Stored, not deflated; times are fixed, so that the same tensors give the same bytes.
void write_npz(const std::vector<NamedTensor>& tensors, Buffer& buffer, const Metadata& metadata = {});
/// Large elements first, then by name, as the reference implementation writes it: all data is aligned.
void write_safetensors(const std::vector<NamedTensor>& tensors, Buffer& buffer, const Metadata& metadata = {});

} // namespace attn::io
