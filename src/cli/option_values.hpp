// Values of options that several commands have, from text to meaning. Whatever is malformed or out of range is Error(usage).
#pragma once

#include "attn/model/recipe.hpp"
#include "attn/report/notation.hpp"
#include "cli/command.hpp"
#include "cli/format.hpp"
#include "cli/suggest.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace attn::cli {

inline constexpr std::int64_t largest_int32 = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t most_heads = 65536;

/// Throws Error(usage) when both are given; `names` is "--this and --that".
void exclude(bool one, bool other, const char* names);

[[nodiscard]] std::optional<std::int64_t> integer_option(const Arguments& arguments, std::string_view option,
                                                         std::int64_t least, std::int64_t most);

/// `names` are in the order of Enum.
template <typename Enum, std::size_t count>
[[nodiscard]] std::optional<Enum> choice_option(const Arguments& arguments, std::string_view option,
                                                const std::array<std::string_view, count>& names)
{
    const auto text = arguments.value(option);
    return text ? std::optional(static_cast<Enum>(choice(option, *text, names))) : std::nullopt;
}

/// true when the flag is given, otherwise nothing.
[[nodiscard]] std::optional<bool> switch_option(const Arguments& arguments, std::string_view option);

/// --isa; none for auto. Throws Error(usage) for what this machine does not have, naming what it has.
[[nodiscard]] std::optional<core::Isa> isa_option(const Arguments& arguments);

[[nodiscard]] std::optional<core::Window> window_option(const Arguments& arguments); ///< --window L[,R]
[[nodiscard]] std::optional<double> scale_option(const Arguments& arguments);        ///< --scale X|none; 1 for "none"
[[nodiscard]] std::optional<double> softcap_option(const Arguments& arguments);      ///< --softcap X

[[nodiscard]] std::vector<std::string> query_option(const Arguments& arguments); ///< --query LIST; empty without it
/// --digits N; when it is not given 4, in pictures 2. Throws Error(usage) for other formats than tables and SVG.
[[nodiscard]] int digits_option(const Arguments& arguments, Format format);
/// --notation fixed|row. Throws Error(usage) for other formats than tables.
[[nodiscard]] report::NotationRule notation_option(const Arguments& arguments, Format format);

struct ShownNames {
    std::vector<std::size_t> places; ///< among the names
    bool all = false;
};
/// --show LIST: of `names`, or "all".
[[nodiscard]] ShownNames show_option(const Arguments& arguments, std::span<const char* const> names);

} // namespace attn::cli
