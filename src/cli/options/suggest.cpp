#include "cli/options/suggest.hpp"

#include "attn/tensor/error.hpp"

#include <algorithm>

namespace attn::cli {

std::size_t choice(std::string_view option, std::string_view text, std::span<const std::string_view> names,
                   std::span<const Alias> aliases)
{
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) {
        throw Error(ErrorKind::usage, option, in_quotes(text), joined(names) + did_you_mean(text, names, aliases));
    }
    return static_cast<std::size_t>(found - names.begin());
}

} // namespace attn::cli
