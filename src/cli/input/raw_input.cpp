#include "cli/input/raw_input.hpp"

#include "attn/io/tensors/raw.hpp"
#include "cli/input/named.hpp"
#include "cli/options/format.hpp"
#include "cli/system/files.hpp"

#include <sys/stat.h>

namespace attn::cli {

std::optional<std::string> header_beside(const std::string& path)
{
    constexpr const FormatInfo& raw = info_of(Format::bin);
    std::string header = path + std::string(raw.beside);
    struct stat found = {};
    const bool there = path.ends_with(raw.ending) && ::stat(header.c_str(), &found) == 0 && S_ISREG(found.st_mode);
    return there ? std::optional(std::move(header)) : std::nullopt;
}

io::TensorFile open_raw(const MappedFile& numbers, const std::string& header)
{
    constexpr std::size_t most_bytes = std::size_t{1} << 20U; // some thousand arrays
    const std::string text = read_json_file(header, most_bytes);
    return named(quoted_path(header), [&] { return io::read_raw(text, numbers.bytes()); });
}

} // namespace attn::cli
