// The options of `run` beyond its input.
#pragma once

#include "attn/report/svg/svg.hpp"
#include "cli/options/against_options.hpp"
#include "cli/options/input_options.hpp"
#include "cli/options/picture_options.hpp"
#include "cli/options/show_option.hpp"

#include <optional>
#include <string>
#include <vector>

namespace attn::cli {

struct RunOptions : InputOptions {
    bool runs_model = false; ///< --model
    ShowOption show;
    std::optional<Index> top; ///< pairs of each head in the summary; of arcs, lines
    OutputOptions output;
    bool spelled_out = false; ///< of a recipe: with every size, side and shape, for `recipe new`
    AgainstOptions against;
    Format format = Format::table;
    int digits = 4;             ///< of formats that round
    std::optional<bool> header; ///< of CSV
    report::NotationRule notation = report::NotationRule::fixed;
    PictureOptions picture_options;
    report::SvgOptions picture; ///< of an SVG

    /// Whether lines are rows of one array: they have vectors, and nothing else.
    [[nodiscard]] bool stacks_lines() const
    {
        const bool pooled = trained.pool && !show.all && show.items.without({model::Item::pooled}).empty();
        return lines && pooled && info_of(format).is_binary;
    }
    /// Whether an SVG has a map per layer and head.
    [[nodiscard]] bool draws_layers() const { return trained.layers.size() != 1 || trained.layers.front() < 0; }
    /// Of an SVG.
    [[nodiscard]] report::PlannedPicture planned_picture() const
    {
        return {.plot = picture.plot, .weights = show.items.contains(model::Item::weights)};
    }
};

void declare_run(Options& options, RunOptions& run);
/// What of it makes a recipe, for `recipe new`.
void declare_new_recipe(Options& options, RunOptions& run);

/// What follows from the options as typed. Throws Error(usage) for what is contradictory. Touches no file.
void finish_run_options(const TypedArguments& typed, RunOptions& run);

} // namespace attn::cli
