// Raw numbers with the header that lies beside them: FILE.bin and FILE.bin.json.
#pragma once

#include "attn/io/tensors/tensor_file.hpp"
#include "cli/system/mapped_file.hpp"

#include <optional>
#include <string>

namespace attn::cli {

/// The header beside a .bin, where one is there. Without one the file may be of any other kind. Throws Error(data) for a .bin
/// that is a FIFO or a device: opening it might wait for good.
[[nodiscard]] std::optional<std::string> header_beside(const std::string& path);

/// Throws Error(data) for a .bin that has no header and is of no other kind, saying what is missing.
void require_header(const MappedFile& file, const std::string& path);

/// Views into `numbers`. Throws Error(no_input), Error(io), and Error(data) as io::read_raw, naming the header.
[[nodiscard]] io::TensorFile open_raw(const MappedFile& numbers, const std::string& header);

} // namespace attn::cli
