// In which form a result is written.
#pragma once

#include "attn/report/text/notation.hpp"
#include "cli/options/options.hpp"

#include <optional>
#include <span>
#include <string>

namespace attn::cli {

enum class Format { table, json, csv, npy, npz, safetensors, svg, html };

/// --format, --json, --digits, --notation and -o, as typed.
struct OutputOptions {
    std::optional<std::string> format, path;
    bool json = false;
    std::optional<int> digits; ///< of tables and pictures
    std::optional<report::NotationRule> notation;
};

/// Declares --format and -o, and --json where that is among `allowed`, of which the first is the default.
void declare_output(Options& options, OutputOptions& output, std::span<const Format> allowed);
void declare_digits(Options& options, OutputOptions& output);
void declare_notation(Options& options, OutputOptions& output);

/// From --format, --json and the ending of the output's name, in this order; the first of `allowed` when none says anything.
/// Throws Error(usage) when they contradict each other, and for a format, or an ending of one, that is not among `allowed`.
[[nodiscard]] Format decide_format(const OutputOptions& output, std::span<const Format> allowed);
/// When --digits is not given 4, in pictures 2. Throws Error(usage) for other formats than tables and SVG.
[[nodiscard]] int decide_digits(const OutputOptions& output, Format format);
/// Throws Error(usage) for other formats than tables.
[[nodiscard]] report::NotationRule decide_notation(const OutputOptions& output, Format format);

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
