#include "attn/report/svg/svg.hpp"

#include "attn/report/head_means.hpp"
#include "attn/report/svg/markup.hpp"
#include "attn/report/svg/svg_panels.hpp"
#include "attn/report/text/display.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn::report {
namespace {

constexpr double head_font = 12;
constexpr double head_height = 22; // the name of a head
constexpr double panel_gap = 24;
constexpr double caption_gap = 8; // between a picture and its caption
constexpr double remark_font = 13;
constexpr double longest_title = 640;
constexpr double bold_width = 1.1; // times that of plain letters
constexpr double bar_room = 6;     // half a label beyond the ends of the colour bar

/// "weights (6, 6)", "numbers (6, 6)" where they are none, "weights of 4 heads (6, 6)"
std::string array_text(const Picture& picture)
{
    return fmt::format("{}{} {}", picture.array, picture.heads == 1 ? "" : " of " + counted(picture.heads, "head"),
                       to_string(Shape{picture.rows, picture.columns}));
}

/// How panels of one size stand in rows and columns.
struct PanelGrid {
    Index columns = 1, rows = 1;
};

/// Near the shape of a page, with few empty places.
PanelGrid grid_of(Index count, const PanelSize& size)
{
    constexpr double page = 1.6; // width : height
    PanelGrid best;
    double least = -1;
    for (Index columns = 1; columns <= std::min<Index>(count, 64); ++columns) {
        const Index rows = (count + columns - 1) / columns;
        const double width = size.gutter + static_cast<double>(columns) * (size.width + panel_gap);
        const double height = static_cast<double>(rows) * (size.height + size.header + head_height + panel_gap);
        const double ratio = width / height / page;
        const double empty = static_cast<double>(columns * rows - count) / static_cast<double>(count);
        const double cost = std::max(ratio, 1 / ratio) + 2 * empty;
        if (least < 0 || cost < least) {
            best = {columns, rows};
            least = cost;
        }
    }
    return best;
}

struct NamePlace {
    double x = 0, y = 0, room = 0;
};

/// With what the head does, where both fit above its panel.
void append_head_name(std::string& out, const Picture& picture, Index head, const NamePlace& place)
{
    const auto at = static_cast<std::size_t>(head);
    append_text(out, picture.head_names[at], place.x, place.y, head_font, attribute("font-weight", "bold"));
    const double end = (text_width(picture.head_names[at]) * bold_width + text_width(" ")) * head_font;
    const std::string role = picture.head_roles.empty() ? "" : picture.head_roles[at];
    if (!role.empty() && end + text_width(role) * head_font <= place.room) {
        append_text(out, role, place.x + end, place.y, head_font);
    }
}

template <typename Panels>
std::string draw(const Panels& panels, const Picture& picture, const SvgOptions& options)
{
    const PanelSize& size = panels.size();
    const PanelGrid grid = grid_of(picture.heads, size);
    const Heading heading = heading_of(array_text(picture), picture.title, panels.note(), options);
    const auto& key = panels.key();
    const double head = picture.head_names.empty() ? 0 : head_height;
    const double step_x = size.width + panel_gap;
    const double step_y = head + size.header + size.height + panel_gap;
    const double top = margin + heading_height + body_gap;
    const double panels_right = margin + size.gutter + static_cast<double>(grid.columns) * step_x - panel_gap;
    const double panels_bottom = top + static_cast<double>(grid.rows) * step_y - panel_gap;
    const double key_x = panels_right + key_gap;
    const double first_body = top + head + size.header;
    const double key_y =
        size.height >= key.height ? first_body : std::max(top + bar_room, first_body + (size.height - key.height) / 2);
    const double width = std::max(key_x + key.width() + margin, least_width(heading, options));
    const double height = std::max(panels_bottom, key_y + key.height + bar_room) + margin;

    std::string out = opening({width, height}, heading, options) + key.definitions();
    for (Index i = 0; i < picture.heads; ++i) {
        // Heads, too, are read from where the words begin.
        const Index column = size.gutter_at_right ? grid.columns - 1 - i % grid.columns : i % grid.columns;
        const Index row = i / grid.columns;
        const double x = margin + (size.gutter_at_right ? 0 : size.gutter) + static_cast<double>(column) * step_x;
        const double y = top + static_cast<double>(row) * step_y;
        if (head > 0) {
            append_head_name(out, picture, i, {x, y + head_font / 2, size.width});
        }
        panels.append_panel(out, i, {x, y + head + size.header, i % grid.columns == 0});
        require_size(out.size(), picture);
    }
    key.append(out, key_x, key_y);
    out += "</svg>\n";
    return out;
}

void name_roles(Picture& picture, const model::Summary& summary)
{
    if (picture.weights && !picture.doubtful) {
        for (const model::HeadSummary& head : summary.heads) {
            const ShownMean* role = role_of(head, summary.equal);
            picture.head_roles.push_back(role == nullptr ? "" : mean_text(*role, head));
        }
    }
}

} // namespace

Heading heading_of(const std::string& array, const std::string& usual, const std::string& note, const SvgOptions& options)
{
    const std::string& title = options.title.empty() ? usual : options.title;
    if (title.empty()) {
        return {array, note, array + ", " + note};
    }
    return {shortened_to(drawable(title), longest_title / title_font), array + "; " + note, array + ", " + note};
}

double least_width(const Heading& heading, const SvgOptions& options)
{
    const double title = text_width(heading.title) * title_font * bold_width;
    return margin +
           std::max({title, text_width(heading.note) * note_font, text_width(options.remark) * remark_font,
                     text_width(options.caption) * note_font}) +
           margin;
}

std::string opening(const PictureSize& size, const Heading& heading, const SvgOptions& options)
{
    const Palette& palette = palette_of(options.ground);
    const double remark_height = options.remark.empty() ? 0 : caption_gap + remark_font;
    const double caption_height = options.caption.empty() ? 0 : caption_gap + note_font;
    const std::string w = length(std::ceil(size.width));
    const std::string h = length(std::ceil(size.height + remark_height + caption_height));
    std::string out;
    out.reserve(most_bytes + most_bytes / 8); // grown by doubling, a large picture would be there twice for a while
    out += fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{0}" height="{1}" viewBox="0 0 {0} {1}")"
        R"( font-family="'Helvetica Neue',Helvetica,Arial,'Noto Sans','DejaVu Sans',sans-serif" fill="{2}">
<title>{3}</title>
<desc>Attention drawn by attn-cli: {4}{5}</desc>
<rect width="{0}" height="{1}" fill="{6}"/>
)",
        w, h, palette.ink, escaped(heading.title), escaped(heading.description),
        (options.remark.empty() ? "" : "; " + escaped(options.remark)) +
            (options.caption.empty() ? "" : "; " + escaped(options.caption)),
        palette.ground);
    const std::string grey = attribute("fill", palette.grey_ink);
    append_text(out, heading.title, margin, margin + title_font / 2, title_font, attribute("font-weight", "bold"));
    append_text(out, heading.note, margin, margin + heading_height - note_font / 2, note_font, grey);
    const double below = size.height - margin + caption_gap;
    if (!options.remark.empty()) {
        append_text(out, options.remark, margin, below + remark_font / 2, remark_font, "");
    }
    if (!options.caption.empty()) {
        append_text(out, options.caption, margin, below + remark_height + note_font / 2, note_font, grey);
    }
    return out;
}

void require_size(std::size_t bytes, const Picture& picture)
{
    if (bytes > most_bytes) {
        const std::string heads = picture.heads == 1 ? "" : fmt::format("{} × ", picture.heads);
        refuse_picture(picture, fmt::format("{}{} × {} cells", heads, picture.rows, picture.columns),
                       fmt::format("what fits into {} MB", most_bytes / 1000000));
    }
}

void append_text(std::string& out, std::string_view text, double x, double y, double font, std::string_view attributes)
{
    constexpr double middle = 0.35; // of the font's size: from the baseline to the middle of a digit
    out += "<text" + attribute("x", x) + attribute("y", y + middle * font) + attribute("font-size", font);
    out += attributes;
    out += '>';
    out += escaped(text);
    out += "</text>\n";
}

void append_strokes(std::string& out, std::span<const std::string> paths, const Palette& palette, const std::string& move)
{
    out += "<g" + attribute("fill", "none") + attribute("shape-rendering", "crispEdges") + attribute("transform", move) + ">\n";
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (!paths[i].empty()) {
            const Rgb colour = palette.colour(static_cast<double>(i) / static_cast<double>(paths.size() - 1));
            out += "<path" + attribute("stroke", hex(colour)) + attribute("d", paths[i]) + "/>\n";
        }
    }
    out += "</g>\n";
}

void write_svg(const model::Result& result, std::span<const model::Summary> summaries, const SvgOptions& options, Buffer& out)
{
    if (result.layers.size() > 1) {
        return out.append(draw_layers(result, summaries, options));
    }
    Picture picture = picture_of(result, result.front(), options.shade);
    for (const model::Summary& summary : summaries) {
        name_roles(picture, summary);
    }
    if (options.plot == Plot::arcs && !picture.weights) {
        throw Error(ErrorKind::internal, "--plot arcs", picture.array, "weights; scores are drawn as a heatmap");
    }
    out.append(options.plot == Plot::arcs ? draw(ArcPanels(picture, options), picture, options)
                                          : draw(HeatMapPanels(picture, options), picture, options));
}

void write_heat_map(const Picture& picture, const SvgOptions& options, Buffer& buffer)
{
    buffer.append(draw(HeatMapPanels(picture, options), picture, options));
}

} // namespace attn::report
