#include "cli/options/picture_options.hpp"

#include "attn/report/svg/picture.hpp"
#include "attn/tensor/error.hpp"

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
}

report::SvgOptions picture_of(const PictureOptions& picture, std::optional<Index> top, const OutputOptions& output,
                              Format format)
{
    if (format != Format::svg) {
        if (picture.plot || picture.title) {
            throw Error(ErrorKind::usage, std::string(picture.plot ? "--plot" : "--title") +
                                              " is for pictures; give --format svg, or -o FILE.svg");
        }
        return {};
    }
    report::SvgOptions options;
    options.plot = picture.plot.value_or(report::Plot::heat_map);
    options.most = top;
    if (top && options.plot != report::Plot::arcs) {
        throw Error(ErrorKind::usage, "--top with a picture needs --plot arcs: a heat map shows every weight");
    }
    options.title = picture.title.value_or("");
    options.digits = decide_digits(output, format);
    return options;
}

std::vector<model::Item> drawn_item(const std::vector<model::Item>& show, bool all, report::Plot plot)
{
    constexpr const char* allowed = "one of weights, scores, scaled_scores, capped_scores, masked_scores in a picture";
    if (all || show.size() > 1) {
        throw Error(ErrorKind::usage, "--show", all ? "all" : std::to_string(show.size()) + " names", allowed);
    }
    if (show.empty()) {
        return {model::Item::weights};
    }
    if (std::ranges::find(report::drawn_items, show.front()) == report::drawn_items.end()) {
        throw Error(ErrorKind::usage, "--show", model::name_of(show.front()), allowed);
    }
    if (plot == report::Plot::arcs && show.front() != model::Item::weights) {
        throw Error(ErrorKind::usage, "--show", model::name_of(show.front()),
                    "weights with --plot arcs; a heat map draws scores");
    }
    return show;
}

} // namespace attn::cli
