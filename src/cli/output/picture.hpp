// The SVG of a result.
#pragma once

#include "attn/report/svg/svg.hpp"
#include "cli/output/output.hpp"

#include <span>

namespace attn::cli {

/// One result, or a grid of several layers, with the names of what their heads do.
void write_picture(std::span<const model::Result> results, const report::SvgOptions& options, Output& output);

} // namespace attn::cli
