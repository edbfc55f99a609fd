// The options of pictures, which `run` and `plot` have in common.
#pragma once

#include "attn/report/svg.hpp"
#include "cli/command.hpp"
#include "cli/format.hpp"

#include <vector>

namespace attn::cli {

[[nodiscard]] std::span<const OptionSpec> picture_specs();

/// --plot, --title, --digits and, of a picture, --top. Throws Error(usage) for --plot and --title beside a format that is no
/// picture, and for --top of a picture other than arcs.
[[nodiscard]] report::SvgOptions read_picture_options(const Arguments& arguments, Format format);

/// What a picture shows: the one array of `show`, or weights. Throws Error(usage) for more than one, or one that cannot be
/// drawn.
[[nodiscard]] std::vector<model::Item> drawn_item(const std::vector<model::Item>& show, bool all, report::Plot plot);

} // namespace attn::cli
