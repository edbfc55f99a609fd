// The options of `run`: what they are called, and what the typed text means.
#pragma once

#include "attn/model/result.hpp"
#include "attn/report/notation.hpp"
#include "attn/report/svg.hpp"
#include "cli/format.hpp"
#include "cli/input_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace attn::cli {

struct RunOptions : InputOptions {
    std::vector<model::Item> show;
    bool show_all = false;
    std::optional<Index> top; ///< pairs of each head in the summary
    Format format = Format::table;
    int digits = 4;     ///< of tables
    bool header = true; ///< of CSV
    report::NotationRule notation = report::NotationRule::fixed;
    report::SvgOptions picture; ///< of an SVG
    std::optional<std::string> output;
};

[[nodiscard]] std::span<const OptionGroup> run_option_groups();

/// Throws Error(usage) for what is malformed, out of range or contradictory. Touches no file.
[[nodiscard]] RunOptions read_run_options(const Arguments& arguments);

} // namespace attn::cli
