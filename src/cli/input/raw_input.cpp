#include "cli/input/raw_input.hpp"

#include "attn/io/tensors/raw.hpp"
#include "cli/input/named.hpp"
#include "cli/options/format.hpp"
#include "cli/system/files.hpp"

#include <unistd.h>

namespace attn::cli {

std::optional<std::string> header_beside(const std::string& path)
{
    constexpr const FormatInfo& raw = info_of(Format::bin);
    std::string header = path + std::string(raw.beside);
    const bool there = path.ends_with(raw.ending) && ::access(header.c_str(), F_OK) == 0;
    return there ? std::optional(std::move(header)) : std::nullopt;
}

io::TensorFile open_raw(const MappedFile& numbers, const std::string& header)
{
    constexpr std::size_t most_bytes = std::size_t{1} << 26U; // some hundred thousand arrays
    const std::string text = read_json_file(header, most_bytes);
    return named(quoted_path(header), [&] { return io::read_raw(text, numbers.bytes()); });
}

} // namespace attn::cli
