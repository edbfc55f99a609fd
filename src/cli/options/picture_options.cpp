#include "cli/options/picture_options.hpp"

#include "attn/model/recipe/option_names.hpp"
#include "attn/report/svg/picture.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attn::cli {

namespace option {
namespace {

constexpr OptionInfo plot{"--plot", "KIND", "kind of SVG; arcs are two columns of words with a line per weight", "heatmap",
                          model::allow::one_of(report::plot_names)};
constexpr OptionInfo title{"--title", "TEXT", "text above the picture", "the name of the array"};
constexpr OptionInfo shade{
    "--shade", "SCALE",
    "scale of a heat map's colours; absolute: one for all; row: to the largest of each row; log: by the logarithm",
    "absolute; row beyond 24 keys", model::allow::one_of(report::shade_names)};
constexpr OptionInfo ground{"--ground", "GROUND", "what an SVG is drawn on; dark has the colours of terminals", "light",
                            model::allow::one_of(report::ground_names)};
constexpr OptionInfo caption = switch_option(
    "--caption", "a line below an SVG: how many words and heads, masks, positions, and where the numbers come from");

} // namespace
} // namespace option

namespace {

/// "picture.shade_max" of "--shade-max"
std::string key_of(const OptionInfo& option)
{
    std::string name(option.name.substr(2));
    std::ranges::replace(name, '-', '_');
    return "picture." + name;
}

std::string name_of(const OptionInfo& option, const PictureOptions& picture)
{
    return picture.spelling == PictureSpelling::keys ? name_of_key(key_of(option)) : std::string(option.name);
}

void require_shades(const PictureOptions& picture, Format format)
{
    const report::ShadeOptions& shade = picture.shade;
    const bool coloured = format == Format::svg || format == Format::html || format == Format::table;
    if ((shade.shade || shade.most) && !coloured) {
        throw Error(ErrorKind::usage, fmt::format("{} is for tables, SVG and pages",
                                                  name_of(shade.shade ? option::shade : option::shade_max, picture)));
    }
    if (shade.shade == report::Shade::row && shade.most) {
        throw Error(ErrorKind::usage, fmt::format("{} is for the shades absolute and log; row gives each row its own largest",
                                                  name_of(option::shade_max, picture)));
    }
    if (shade.shade && picture.plot == report::Plot::arcs) {
        throw Error(ErrorKind::usage, fmt::format("{} is for heat maps; {} sets the thickest line of --plot arcs",
                                                  name_of(option::shade, picture), name_of(option::shade_max, picture)));
    }
}

} // namespace

void declare_pictures(Options& options, PictureOptions& picture, PictureSpelling spelling)
{
    picture.spelling = spelling;
    const auto add = [&](const OptionInfo& option, auto& member) {
        if (spelling == PictureSpelling::keys) {
            options.add_key(key_of(option), option, member);
        } else {
            options.add(option, member);
        }
    };
    if (spelling == PictureSpelling::options) {
        options.group("Pictures");
    }
    options.add(option::plot, picture.plot);
    add(option::title, picture.title);
    add(option::shade, picture.shade.shade);
    add(option::shade_max, picture.shade.most);
    add(option::ground, picture.ground);
    add(option::caption, picture.caption);
}

report::SvgOptions picture_of(const PictureOptions& picture, std::optional<Index> top, const OutputOptions& output,
                              Format format)
{
    require_shades(picture, format);
    if (format != Format::svg) {
        const std::string given = picture.plot      ? std::string(option::plot.name)
                                  : picture.title   ? name_of(option::title, picture)
                                  : picture.ground  ? name_of(option::ground, picture)
                                  : picture.caption ? name_of(option::caption, picture)
                                                    : "";
        if (!given.empty()) {
            throw Error(ErrorKind::usage, fmt::format("{} is for pictures; give {} svg or -o FILE.svg", given, format_name));
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
    options.digits = decide_digits(output, format, std::array{format});
    return options;
}

model::Item drawn_item(const ShowOption& show, report::Plot plot)
{
    if (!show.given()) {
        return model::Item::weights;
    }
    const model::Item item = show.all ? model::Item::weights : *show.items.begin();
    if (show.all || show.items.size() > 1 || !is_drawn(item)) {
        throw Error(ErrorKind::usage, model::option::show,
                    show.all                ? "all"
                    : show.items.size() > 1 ? fmt::format("{} names", show.items.size())
                                            : std::string(name_of(item)),
                    fmt::format("one of {} in a picture", report::drawn_names()));
    }
    if (plot == report::Plot::arcs && item != model::Item::weights) {
        throw Error(ErrorKind::usage, model::option::show, name_of(item), "weights with --plot arcs; a heat map draws scores");
    }
    return item;
}

} // namespace attn::cli
