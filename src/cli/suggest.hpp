// "did you mean …?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attn::cli {

/// Insertions, deletions, substitutions and swaps of neighbouring bytes that turn `a` into `b` (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// "; did you mean heads?" for the candidate nearest to `text`, or nothing when none is near. A candidate is near when a third
/// of its letters or fewer differ, or when `text` abbreviates it; dashes in front do not count.
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates);

/// The place of `text` among `names`. Throws Error(usage) with the names, and the one that was probably meant.
[[nodiscard]] std::size_t choice(std::string_view option, std::string_view text, std::span<const std::string_view> names);

/// "a, b, c"
[[nodiscard]] std::string joined(std::span<const std::string_view> names);

} // namespace attn::cli
