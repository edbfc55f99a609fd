#include "cli/options/picture_options.hpp"

#include "attn/report/svg/picture.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace attn::cli {

void declare_pictures(Options& options, PictureOptions& picture)
{
    options.group("Pictures");
    options.add({.name = "--plot",
                 .allowed = model::allow::one_of(report::plot_names),
                 .meaning = "kind of SVG; arcs are two columns of words with a line per weight",
                 .usual = "heatmap",
                 .symbol = "KIND"},
                picture.plot);
    options.add({.name = "--title", .meaning = "text above the picture", .usual = "the name of the array", .symbol = "TEXT"},
                picture.title);
    options.add({.name = "--shade",
                 .allowed = model::allow::one_of(report::shade_names),
                 .meaning = "colours of a heat map: one scale for all, each row to its own largest, or by the logarithm",
                 .usual = "absolute; row beyond 24 keys",
                 .symbol = "SCALE"},
                picture.shade.shade);
    options.add({.name = "--shade-max",
                 .allowed = model::allow::real_from(1e-30, "a finite number, 1e-30 or more, such as 0.1"),
                 .meaning = "the number that has the strongest colour; pictures with the same one can be compared",
                 .usual = "1, or a round number",
                 .symbol = "X"},
                picture.shade.most);
    options.add({.name = "--ground",
                 .allowed = model::allow::one_of(report::ground_names),
                 .meaning = "what an SVG is drawn on: paper, or a dark ground with the colours of terminals",
                 .usual = "light",
                 .symbol = "GROUND"},
                picture.ground);
    options.add({.name = "--caption",
                 .allowed = model::allow::flag,
                 .meaning = "a line below an SVG: how many words and heads, masks, positions, and where the numbers come from"},
                picture.caption);
}

namespace {

void require_shades(const PictureOptions& picture, Format format)
{
    const report::ShadeOptions& shade = picture.shade;
    const bool coloured = format == Format::svg || format == Format::html || format == Format::table;
    if ((shade.shade || shade.most) && !coloured) {
        throw Error(ErrorKind::usage, std::string(shade.shade ? "--shade" : "--shade-max") + " is for tables, SVG and pages");
    }
    if (shade.shade == report::Shade::row && shade.most) {
        throw Error(ErrorKind::usage, "--shade row gives each row its own largest; --shade-max is for the other two");
    }
    if (shade.shade && picture.plot == report::Plot::arcs) {
        throw Error(ErrorKind::usage, "--shade is for heat maps; the thickest of --plot arcs is --shade-max");
    }
}

} // namespace

report::SvgOptions picture_of(const PictureOptions& picture, std::optional<Index> top, const OutputOptions& output,
                              Format format)
{
    require_shades(picture, format);
    if (format != Format::svg) {
        const char* given = picture.plot      ? "--plot"
                            : picture.title   ? "--title"
                            : picture.ground  ? "--ground"
                            : picture.caption ? "--caption"
                                              : nullptr;
        if (given != nullptr) {
            throw Error(ErrorKind::usage, std::string(given) + " is for pictures; give --format svg or -o FILE.svg");
        }
        return {};
    }
    report::SvgOptions options;
    options.plot = picture.plot.value_or(report::Plot::heat_map);
    options.most = top;
    if (top && options.plot != report::Plot::arcs) {
        throw Error(ErrorKind::usage, "--top with a picture requires --plot arcs; a heat map shows every weight");
    }
    options.title = picture.title.value_or("");
    options.shade = picture.shade;
    options.ground = picture.ground.value_or(report::Ground::light);
    options.digits = decide_digits(output, format);
    return options;
}

model::Item drawn_item(const ShowOption& show, report::Plot plot)
{
    if (!show.given()) {
        return model::Item::weights;
    }
    const model::Item item = show.all ? model::Item::weights : *show.items.begin();
    if (show.all || show.items.size() > 1 || !is_drawn(item)) {
        throw Error(ErrorKind::usage, "--show",
                    show.all                ? "all"
                    : show.items.size() > 1 ? fmt::format("{} names", show.items.size())
                                            : std::string(name_of(item)),
                    fmt::format("one of {} in a picture", report::drawn_names()));
    }
    if (plot == report::Plot::arcs && item != model::Item::weights) {
        throw Error(ErrorKind::usage, "--show", name_of(item), "weights with --plot arcs; a heat map draws scores");
    }
    return item;
}

} // namespace attn::cli
