// The options of pictures, which `run` and `plot` have in common.
#pragma once

#include "attn/model/recipe/option_names.hpp"
#include "attn/model/run/result.hpp"
#include "attn/report/svg/svg.hpp"
#include "cli/options/format.hpp"
#include "cli/options/show_option.hpp"

#include <vector>

namespace attn::cli {

inline constexpr Index most_lines = 1000000; ///< of arcs

namespace option {

inline constexpr OptionInfo shade_max{"--shade-max", "X",
                                      "the number that has the strongest colour; pictures with the same one can be compared",
                                      "1; if no weight is over 0.5, a round number",
                                      model::allow::real_from(1e-30, "a finite number, 1e-30 or more, such as 0.1")};
[[nodiscard]] constexpr OptionInfo top(std::string_view meaning, std::string_view usual, const model::Allowed& allowed)
{
    return {"--top", "K", meaning, usual, allowed};
}

} // namespace option

/// Where pictures are one thing of many, what they have beside their kind goes to keys of --set.
enum class PictureSpelling { options, keys };

struct PictureOptions {
    std::optional<report::Plot> plot;
    std::optional<std::string> title;
    report::ShadeOptions shade; ///< of tables, too
    std::optional<report::Ground> ground;
    bool caption = false;
    PictureSpelling spelling = PictureSpelling::options;
};

void declare_pictures(Options& options, PictureOptions& picture, PictureSpelling spelling);

/// Throws Error(usage) for picture options beside a format that is not a picture, shades of what has no colours or one scale,
/// and for --top of a picture other than arcs.
[[nodiscard]] report::SvgOptions picture_of(const PictureOptions& picture, std::optional<Index> top,
                                            const OutputOptions& output, Format format);

/// What a picture shows: the one array of `show`, or weights. Throws Error(usage) for more than one, or one that cannot be
/// drawn.
[[nodiscard]] model::Item drawn_item(const ShowOption& show, report::Plot plot);

} // namespace attn::cli
