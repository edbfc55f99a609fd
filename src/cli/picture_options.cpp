#include "cli/picture_options.hpp"

#include "attn/report/picture.hpp"
#include "attn/tensor/error.hpp"
#include "cli/option_values.hpp"

#include <algorithm>
#include <array>

namespace attn::cli {
namespace {

constexpr std::int64_t most_lines = 1000000; // of arcs

constexpr std::array specs{
    OptionSpec{"--plot", "KIND", "of an SVG: heatmap (default); arcs, two columns of words and a line for each weight", {}},
    OptionSpec{"--title", "TEXT", "above the picture, instead of the name of the array", {}},
};

} // namespace

std::span<const OptionSpec> picture_specs()
{
    return specs;
}

report::SvgOptions read_picture_options(const Arguments& arguments, Format format)
{
    constexpr std::array<std::string_view, 2> plots{"heatmap", "arcs"};
    for (const char* option : {"--plot", "--title"}) {
        if (format != Format::svg && arguments.value(option)) {
            throw Error(ErrorKind::usage, std::string(option) + " is for pictures; give --format svg, or -o FILE.svg");
        }
    }
    report::SvgOptions options;
    options.plot = choice_option<report::Plot>(arguments, "--plot", plots).value_or(report::Plot::heat_map);
    options.most = format == Format::svg ? integer_option(arguments, "--top", 1, most_lines) : std::nullopt;
    if (options.most && options.plot != report::Plot::arcs) {
        throw Error(ErrorKind::usage, "--top with a picture needs --plot arcs: a heat map shows every weight");
    }
    options.title = arguments.value("--title").value_or("");
    if (format == Format::svg) {
        options.digits = digits_option(arguments, format);
    }
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
