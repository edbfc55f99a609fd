// Names that can be chosen from.
#pragma once

#include "attn/tensor/error.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace attn::cli {

/// The name of each.
template <typename Things, typename NameOf>
[[nodiscard]] std::vector<std::string_view> names_of(const Things& things, NameOf name_of)
{
    std::vector<std::string_view> names;
    std::ranges::transform(things, std::back_inserter(names), name_of);
    return names;
}

/// The place of `text` among `names`. Throws Error(usage) with the names, and the one that was probably meant.
[[nodiscard]] std::size_t choice(std::string_view option, std::string_view text, std::span<const std::string_view> names,
                                 std::span<const Alias> aliases = {});

} // namespace attn::cli
