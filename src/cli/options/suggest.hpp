// Names that can be chosen from.
#pragma once

#include "attn/tensor/suggest.hpp"

#include <span>
#include <string>
#include <string_view>

namespace attn::cli {

using attn::Alias;
using attn::did_you_mean;
using attn::edit_distance;

/// The place of `text` among `names`. Throws Error(usage) with the names, and the one that was probably meant.
[[nodiscard]] std::size_t choice(std::string_view option, std::string_view text, std::span<const std::string_view> names,
                                 std::span<const Alias> aliases = {});

} // namespace attn::cli
