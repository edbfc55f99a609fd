// The options of `run`: what they are called, and what the typed text means.
#pragma once

#include "attn/model/overrides.hpp"
#include "attn/model/result.hpp"
#include "cli/command.hpp"
#include "cli/format.hpp"

#include <optional>
#include <string>
#include <vector>

namespace attn::cli {

inline constexpr std::size_t default_max_input_bytes = std::size_t{64} << 20U;

/// Where the input comes from.
enum class Source {
    overrides,      ///< SENTENCE or --ids, already in the overrides
    recipe,         ///< --recipe without a sentence: its own
    standard_input, ///< "-"
    pipe,           ///< nothing: standard input, unless it is a terminal
    lines,          ///< --lines
};

struct RunOptions {
    Source source = Source::overrides;
    std::string lines; ///< path of --lines, "-" for standard input
    std::optional<std::string> recipe;
    model::Overrides overrides;
    std::optional<std::vector<std::string>> labels;
    std::optional<std::string> mask; ///< FILE[:NAME]
    std::vector<model::Item> show;
    bool show_all = false;
    std::optional<Index> top; ///< pairs of each head in the summary
    Format format = Format::table;
    int digits = 4;
    std::optional<std::string> output;
    std::size_t max_input_bytes = default_max_input_bytes;
};

[[nodiscard]] std::span<const OptionGroup> run_option_groups();

/// Throws Error(usage) for what is malformed, out of range or contradictory. Touches no file.
[[nodiscard]] RunOptions read_run_options(const Arguments& arguments);

/// --max-input-bytes
[[nodiscard]] std::size_t max_input_bytes(const Arguments& arguments, std::size_t otherwise);

} // namespace attn::cli
