// "did you mean …?", for messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace attn {

/// Insertions, deletions, substitutions and swaps of neighbouring bytes that turn `a` into `b` (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// What others call a candidate, and the candidate.
using Alias = std::pair<std::string_view, std::string_view>;

/// "; did you mean 'heads'?" for the candidate that `text` is an alias of, otherwise for the one nearest to `text`, or nothing
/// when none is near. A candidate is near when a third of the letters of the longer of the two or fewer differ, or when `text`
/// abbreviates it; dashes in front do not count.
[[nodiscard]] std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates,
                                       std::span<const Alias> aliases = {});

/// "a, b"
[[nodiscard]] std::string joined(std::span<const std::string_view> names);

/// "'a', 'b', …": the first few are enough.
[[nodiscard]] std::string quoted_list(std::span<const std::string> names, std::size_t most = 8);

} // namespace attn
