#include "attn/io/builtin.hpp"

#include <algorithm>

namespace attn::io {

std::optional<std::string_view> find(std::span<const BuiltinFile> files, std::string_view name)
{
    const auto found = std::find_if(files.begin(), files.end(), [&](const BuiltinFile& file) { return file.name == name; });
    return found == files.end() ? std::nullopt : std::optional(found->contents);
}

} // namespace attn::io
