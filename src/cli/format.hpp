// In which form a result is written.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace attn::cli {

enum class Format { table, json, csv, npy, npz, safetensors, svg, html };

/// From --format, --json and the ending of the output's name, in this order; the first of `allowed` when none says anything.
/// Throws Error(usage) when they contradict each other, and for a format, or an ending of one, that is not among `allowed`.
[[nodiscard]] Format decide_format(const std::optional<std::string>& format, bool json,
                                   const std::optional<std::string>& output, std::span<const Format> allowed);

/// Whether it is unfit for a terminal.
[[nodiscard]] constexpr bool is_binary(Format format)
{
    return format == Format::npy || format == Format::npz || format == Format::safetensors;
}

/// Whether a result in this format tells the config that it was computed by.
[[nodiscard]] constexpr bool holds_config(Format format)
{
    return format == Format::json || format == Format::safetensors || format == Format::html;
}

} // namespace attn::cli
