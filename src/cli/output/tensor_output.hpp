// Tensors to .npy, .npz, .safetensors.
#pragma once

#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/stored.hpp"
#include "cli/options/format.hpp"
#include "cli/output/output.hpp"

namespace attn::cli {

/// Throws Error(usage) when the output is a terminal, which can do nothing with a binary format.
void refuse_terminal(const Output& output, Format format);

/// Throws Error(usage) for bfloat16 in .npy and .npz, so that it is noticed before anything is computed.
void require_storable(ElementType type, Format format);

/// What of them is written.
[[nodiscard]] std::vector<NamedTensor> views_of(const std::vector<StoredTensor>& tensors);

/// In a binary format. The metadata goes into a .safetensors, or the comment of an .npz.
void write_tensors(const std::vector<NamedTensor>& tensors, Format format, const io::Metadata& metadata, Buffer& out);

} // namespace attn::cli
