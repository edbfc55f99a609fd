// In which form a result is written.
#pragma once

#include <optional>
#include <string>

namespace attn::cli {

enum class Format { table, json, csv };

/// From --format, --json and the ending of the output's name, in this order; a table when none says anything. Throws
/// Error(usage) when they contradict each other, and for an ending of a format that this version does not write.
[[nodiscard]] Format decide_format(const std::optional<std::string>& format, bool json,
                                   const std::optional<std::string>& output);

} // namespace attn::cli
