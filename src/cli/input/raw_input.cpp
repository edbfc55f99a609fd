#include "cli/input/raw_input.hpp"

#include "attn/io/arrays/array_file.hpp"
#include "attn/io/tensors/raw.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/named.hpp"
#include "cli/options/format.hpp"
#include "cli/system/files.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

namespace attn::cli {

namespace {

constexpr const FormatInfo& raw_format = info_of(Format::bin);

} // namespace

std::optional<std::string> header_beside(const std::string& path)
{
    if (!path.ends_with(raw_format.ending)) {
        return std::nullopt;
    }
    struct stat found = {};
    if (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
        throw Error(ErrorKind::data, quoted_path(path), "a FIFO or a device", "a regular file");
    }
    std::string header = path + std::string(raw_format.beside);
    const bool there = ::stat(header.c_str(), &found) == 0 && S_ISREG(found.st_mode);
    return there ? std::optional(std::move(header)) : std::nullopt;
}

void require_header(const MappedFile& file, const std::string& path)
{
    if (!path.ends_with(raw_format.ending) || header_beside(path)) {
        return;
    }
    try {
        (void)io::array_format(file.bytes(), file.name());
    } catch (const Error&) {
        throw Error(ErrorKind::data, file.name(), "no header",
                    fmt::format("{} beside it, which gives name, dtype, shape and offset of each array "
                                "(`attn-cli schema raw`), or a file of another kind, such as .npy",
                                quoted_path(path + std::string(raw_format.beside))));
    }
}

io::TensorFile open_raw(const MappedFile& numbers, const std::string& header)
{
    constexpr std::size_t most_bytes = std::size_t{1} << 20U; // some thousand arrays
    const std::string text = read_json_file(header, most_bytes);
    return named(quoted_path(header), [&] { return io::read_raw(text, numbers.bytes()); });
}

} // namespace attn::cli
