// Numbers of the command line, read strictly.
//
// CLI11 reads 010 as 8, 0x10 as 16, ' 4' as 4 and -1 as 2^64-1, so it hands over text and this reads it: an optional minus sign
// and decimal digits without leading zeros, nothing around them. Whatever else comes is Error(usage) with what is allowed.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace attn::cli {

/// `allowed` says in words what the range does not.
[[nodiscard]] std::int64_t integer(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most,
                                   std::string_view allowed = "");
[[nodiscard]] std::uint64_t natural(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most);

struct RealRange {
    double least = std::numeric_limits<double>::lowest();
    bool least_itself = true; ///< false: only what is greater
    double below = std::numeric_limits<double>::infinity();
    std::string_view allowed = "a finite number such as 0.25 or 1e-3";
};
[[nodiscard]] double real(std::string_view option, std::string_view text, const RealRange& range = {});

/// The items between commas. An empty item is an error, and so is an empty list.
[[nodiscard]] std::vector<std::string_view> list(std::string_view option, std::string_view text,
                                                 std::string_view items_are = "items");
/// The same without the blanks around each item, for items that hold none: one inside is an error.
[[nodiscard]] std::vector<std::string_view> list_of_words(std::string_view option, std::string_view text,
                                                          std::string_view items_are = "items");

} // namespace attn::cli
