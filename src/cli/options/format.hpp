// In which form a result is written.
#pragma once

#include "attn/report/text/notation.hpp"
#include "cli/options/options.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

namespace attn::cli {

enum class Format { table, json, csv, npy, npz, safetensors, bin, svg, html, markdown, recipe };

struct FormatInfo {
    Format format;
    std::string_view name, ending;
    bool is_binary = false;       ///< unfit for a terminal
    bool one_result = false;      ///< a file holds no more than one
    bool one_array = false;       ///< and of that no more than one array
    bool holds_config = false;    ///< a result in it tells the config that it was computed by
    bool has_header = false;      ///< it is records, a line for each number, below one that names the columns
    bool of_run = true;           ///< run writes it
    bool of_models = of_run;      ///< run --model writes it
    std::string_view rounds = {}; ///< what --digits calls it, whose numbers it rounds; empty: none
    std::string_view alias = {};
    std::string_view beside = {}; ///< what the name of a second file, with the header of the first, has behind its ending
};
/// In the order of Format.
inline constexpr std::array all_formats{
    FormatInfo{.format = Format::table, .name = "table", .ending = ".txt", .rounds = "tables"},
    FormatInfo{.format = Format::json, .name = "json", .ending = ".json", .holds_config = true},
    FormatInfo{.format = Format::csv, .name = "csv", .ending = ".csv", .has_header = true},
    FormatInfo{
        .format = Format::npy, .name = "npy", .ending = ".npy", .is_binary = true, .one_result = true, .one_array = true},
    FormatInfo{.format = Format::npz, .name = "npz", .ending = ".npz", .is_binary = true, .one_result = true},
    FormatInfo{.format = Format::safetensors,
               .name = "safetensors",
               .ending = ".safetensors",
               .is_binary = true,
               .one_result = true,
               .holds_config = true},
    FormatInfo{.format = Format::bin,
               .name = "bin",
               .ending = ".bin",
               .is_binary = true,
               .one_result = true,
               .of_run = false,
               .beside = ".json"},
    FormatInfo{.format = Format::svg, .name = "svg", .ending = ".svg", .one_result = true, .rounds = "pictures"},
    FormatInfo{.format = Format::html, .name = "html", .ending = ".html", .one_result = true, .holds_config = true},
    FormatInfo{
        .format = Format::markdown, .name = "markdown", .ending = ".md", .of_run = false, .rounds = "Markdown", .alias = "md"},
    FormatInfo{.format = Format::recipe,
               .name = "recipe",
               .ending = ".recipe.json",
               .one_result = true,
               .holds_config = true,
               .of_models = false,
               .rounds = "recipes"},
};
static_assert([] {
    for (std::size_t i = 0; i < all_formats.size(); ++i) {
        if (all_formats[i].format != static_cast<Format>(i)) {
            return false;
        }
    }
    return true;
}());
[[nodiscard]] constexpr const FormatInfo& info_of(Format format)
{
    return all_formats[static_cast<std::size_t>(format)];
}

[[nodiscard]] constexpr std::string_view name_of(Format format)
{
    return info_of(format).name;
}

/// The formats for which a member of their row is true.
template <bool FormatInfo::*has>
inline constexpr auto formats_with = [] {
    std::array<Format, std::ranges::count(all_formats, true, has)> formats{};
    for (auto next = formats.begin(); const FormatInfo& info : all_formats) {
        if (info.*has) {
            *next++ = info.format;
        }
    }
    return formats;
}();

inline constexpr std::string_view format_name = "--format";

/// --format, --json, --digits, --notation and -o, as typed.
struct OutputOptions {
    std::optional<std::string> format, path;
    bool json = false;
    std::optional<int> digits; ///< of formats that round
    std::optional<report::NotationRule> notation;
};

/// "table, json, csv"
[[nodiscard]] std::string names_of(std::span<const Format> formats);

/// Declares --format and -o, and --json where that is among `allowed`, of which the first is the default, but for what a
/// terminal gets.
void declare_output(Options& options, OutputOptions& output, std::span<const Format> allowed,
                    std::string_view on_terminal = {});
/// Declares -o alone; `form` says in what form it writes.
void declare_file(Options& options, OutputOptions& output, std::string_view form);
/// `allowed`: the formats of the command.
void declare_digits(Options& options, OutputOptions& output, std::span<const Format> allowed);
void declare_notation(Options& options, OutputOptions& output);

/// From --format, --json and the ending of the output's name, in this order; the first of `allowed` when none says anything.
/// Throws Error(usage) when they contradict each other, and for a format, or an ending of one, that is not among `allowed`;
/// `elsewhere`: what writes that.
[[nodiscard]] Format decide_format(const OutputOptions& output, std::span<const Format> allowed,
                                   std::string_view elsewhere = {});
/// When --digits is not given 4, in pictures 2. Throws Error(usage) for a format whose numbers are not rounded, naming those of
/// `allowed` that are.
[[nodiscard]] int decide_digits(const OutputOptions& output, Format format, std::span<const Format> allowed);
/// Throws Error(usage) for other formats than tables.
[[nodiscard]] report::NotationRule decide_notation(const OutputOptions& output, Format format);

} // namespace attn::cli
