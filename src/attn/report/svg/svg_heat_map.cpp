#include "attn/report/svg/svg_panels.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/colour_map.hpp"
#include "attn/report/svg/markup.hpp"
#include "attn/report/text/display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

namespace attn::report {
namespace {

constexpr double largest_cell = 44;
constexpr double label_gap = 8; // between labels and cells
constexpr Index most_named_cells = 4096;
constexpr Index most_places = 8192; // on an axis, of two pixels each
constexpr Index most_labelled = 32; // columns of one of several heads, whose cells get the height of a label

/// Labels on lines of their own: larger ones where cells are.
double font_for(double pitch)
{
    constexpr double small = 10;
    constexpr double usual = 12;
    return std::clamp(std::floor(pitch / line_height), small, usual);
}

void require_places(const Picture& picture)
{
    if (std::max(picture.rows, picture.columns) > most_places) {
        refuse_picture(picture, fmt::format("{} × {} cells", picture.rows, picture.columns),
                       fmt::format("up to {} rows and as many columns", most_places), picture.columns <= most_places);
    }
}

/// What a head takes at least, with all the words that are always drawn.
Index least_bytes(const Shape& shape, const PlannedPicture& planned)
{
    constexpr Index of_head = 300, of_word = 43;
    const Index rows = shape.at(1), columns = shape.at(2);
    if (planned.layers) {
        return of_head;
    }
    if (planned.plot == Plot::arcs) {
        return of_head + (std::max(rows, columns) <= many_words ? of_word * (rows + columns) : 0);
    }
    return of_head + (columns <= most_labelled ? of_word * columns : 0);
}

} // namespace

void require_picture_size(const Shape& shape, const PlannedPicture& planned)
{
    if (shape.front() > static_cast<Index>(most_bytes) / least_bytes(shape, planned)) {
        throw Error(ErrorKind::too_large, "picture", fmt::format("{} heads {}", shape.front(), to_string(shape)),
                    fmt::format("what fits into {} MB; choose some with --head", most_bytes / 1000000));
    }
    require_cells(shape);
    if (planned.plot == Plot::heat_map && !planned.layers) {
        Picture picture;
        picture.weights = planned.weights;
        picture.heads = shape.at(0);
        picture.rows = shape.at(1);
        picture.columns = shape.at(2);
        require_places(picture);
    }
}

HeatMapPanels::HeatMapPanels(const Picture& picture, const SvgOptions& options)
    : picture_(picture), options_(options), palette_(palette_of(options.ground))
{
    require_places(picture);
    choose_cells();
    choose_labels();
    choose_value_font();
    size_.width = cell_width_ * static_cast<double>(picture.columns);
    size_.height = cell_height_ * static_cast<double>(picture.rows);
}

std::string HeatMapPanels::note() const
{
    if (!picture_.note.empty()) {
        return picture_.note;
    }
    return (picture_.rows_are_keys ? "rows are key words, columns query words" : "rows are query words, columns key words") +
           row_scale_text(picture_);
}

/// Square cells, but where there are few rows or columns these are not as thin as the others.
void HeatMapPanels::choose_cells()
{
    constexpr double thinnest = 2;
    constexpr double readable = 24;
    const bool one = picture_.heads == 1;
    const double room = one ? 640 : 320;
    const Index labelled = one ? 80 : most_labelled; // so many places get cells of the height of a label
    const auto cell = [&](Index count) {
        const double least = count <= labelled ? std::ceil(line_height * 10) : thinnest;
        return std::clamp(std::floor(room / static_cast<double>(count)), least, largest_cell);
    };
    const double wide = cell(picture_.columns);
    const double high = cell(picture_.rows);
    cell_width_ = std::min(wide, std::max(high, readable));
    cell_height_ = std::min(high, std::max(wide, readable));
    // A few columns are made wide enough for their words.
    constexpr Index few = 12;
    constexpr double usual_font = 12;
    const double longest = widest(picture_.column_words, text_width) * usual_font + 12;
    if (picture_.columns <= few && longest <= (one ? 84 : 72)) {
        cell_width_ = std::max(cell_width_, std::ceil(longest));
    }
    gap_ = std::min(cell_width_, cell_height_) >= 20 ? 1 : 0;
}

void HeatMapPanels::choose_labels()
{
    constexpr Index few_rows = 8;
    constexpr double longest_row = 160;
    constexpr double longest_column = 120;
    row_font_ = font_for(cell_height_);
    column_font_ = font_for(cell_width_);
    std::vector<double> importance; // with a few rows the strongest columns say most
    if (picture_.rows <= few_rows) {
        importance.assign(static_cast<std::size_t>(picture_.columns), picture_.scale.low);
        for (Index i = 0; i < picture_.heads * picture_.rows; ++i) {
            for (Index j = 0; j < picture_.columns; ++j) {
                double& largest = importance[static_cast<std::size_t>(j)];
                largest = std::max(largest, picture_.at(0, i, j));
            }
        }
    }
    rows_ = fit_rows(picture_.row_words, {cell_height_, row_font_, longest_row, {}});
    columns_ = fit_columns(picture_.column_words, {cell_width_, column_font_, longest_column, importance});
    // Whole pixels, for sharp edges.
    size_.gutter = std::ceil(rows_.extent) + label_gap;
    size_.gutter_at_right = picture_.right_to_left;
    size_.header = std::ceil(columns_.extent) + (columns_.turned ? label_gap : label_gap / 2);
}

void HeatMapPanels::choose_value_font()
{
    constexpr double padding = 5;
    constexpr Index most_values = 1024; // a head: beyond, nobody reads them
    if (picture_.rows * picture_.columns > most_values || picture_.cells() > most_named_cells) {
        return;
    }
    const auto width = [&](double value) { return text_width(picture_.rounded(value, options_.digits)); };
    const double longest = std::visit([&](const auto& values) { return widest(values, width); }, picture_.values);
    for (const double font : {12.0, 11.0, 10.0, 9.0, 8.0}) {
        if (longest * font + padding <= cell_width_ && line_height * font + 2 <= cell_height_) {
            value_font_ = font;
            return;
        }
    }
}

void HeatMapPanels::append_labels(std::string& out, const PanelPlace& place) const
{
    const auto middle = [](double start, double size, Index i) { return start + size * (static_cast<double>(i) + 0.5); };
    const std::string direction = picture_.right_to_left ? attribute("direction", "rtl") : "";
    if (place.labelled) { // where reading a row begins; "end" is the left end of what runs to the left
        const double x = picture_.right_to_left ? place.x + size_.width + label_gap : place.x - label_gap;
        out += "<g" + attribute("text-anchor", "end") + direction + ">\n";
        for (const DrawnLabel& label : rows_.labels) {
            append_text(out, label.text, x, middle(place.y, cell_height_, label.place), row_font_);
        }
        out += "</g>\n";
    }
    const std::string turned_anchor = picture_.right_to_left ? attribute("text-anchor", "end") : "";
    out += "<g" + (columns_.turned ? turned_anchor : attribute("text-anchor", "middle")) + direction + ">\n";
    for (const DrawnLabel& label : columns_.labels) {
        const double x = middle(place.x, cell_width_, drawn_column(label.place));
        const double y = place.y - (columns_.turned ? label_gap : label_gap / 2 + columns_.extent / 2);
        if (columns_.turned) {
            const std::string turn = fmt::format("translate({} {}) rotate(-90)", length(x), length(y));
            append_text(out, label.text, 0, 0, column_font_, attribute("transform", turn));
        } else {
            append_text(out, label.text, x, y, column_font_);
        }
    }
    out += "</g>\n";
}

std::optional<Rgb> HeatMapPanels::colour_in(std::size_t place) const
{
    return picture_.is_blank(place) ? std::nullopt : std::optional(palette_.colour(picture_.share(place)));
}

/// One rectangle a cell, each with its words and its number as a tooltip.
void HeatMapPanels::append_cells(std::string& out, Index head, const PanelPlace& place) const
{
    const std::string size = attribute("width", cell_width_ - gap_) + attribute("height", cell_height_ - gap_);
    for (Index i = 0; i < picture_.rows; ++i) {
        for (Index j = 0; j < picture_.columns; ++j) {
            const std::optional<Rgb> colour = colour_in(picture_.place(head, i, j));
            out += "<rect" + attribute("x", place.x + cell_width_ * static_cast<double>(drawn_column(j)));
            out += attribute("y", place.y + cell_height_ * static_cast<double>(i)) + size;
            out += attribute("fill", colour ? hex(*colour) : blank_fill);
            out += "><title>" + escaped(picture_.relation(i, j, picture_.at(head, i, j))) + "</title></rect>\n";
        }
    }
}

void HeatMapPanels::append_values(std::string& out, Index head, const PanelPlace& place) const
{
    out += "<g" + attribute("text-anchor", "middle") + attribute("pointer-events", "none") + ">\n";
    for (Index i = 0; i < picture_.rows; ++i) {
        for (Index j = 0; j < picture_.columns; ++j) {
            const double value = picture_.at(head, i, j);
            const std::optional<Rgb> colour = colour_in(picture_.place(head, i, j));
            if (!colour && !std::isnan(value) && !(value > 0)) { // masked
                continue;
            }
            const std::string_view fill = !colour ? palette_.grey_ink : takes_dark_text(*colour) ? "#000" : "#fff";
            append_text(out, picture_.rounded(value, options_.digits),
                        place.x + cell_width_ * (static_cast<double>(drawn_column(j)) + 0.5),
                        place.y + cell_height_ * (static_cast<double>(i) + 0.5), value_font_, attribute("fill", fill));
        }
    }
    out += "</g>\n";
}

/// Many cells: those of one colour are one path, neighbours in a row one stroke. The unit is a cell.
void HeatMapPanels::append_areas(std::string& out, Index head, const PanelPlace& place) const
{
    struct Pen {
        Index row = 0, column = 0;
    };
    std::array<std::string, 256> paths;
    std::array<Pen, paths.size()> pens;
    std::size_t size = out.size();
    const auto level = [&](Index row, Index column) -> Index {
        const std::size_t cell = picture_.place(head, row, drawn_column(column));
        return picture_.is_blank(cell) ? -1 : static_cast<Index>(step_of(picture_.share(cell), paths.size()));
    };
    for_each_run(picture_.rows, picture_.columns, level, [&](Index row, Index begin, Index end, std::size_t of) {
        const Pen pen = std::exchange(pens.at(of), {row, end}); // relative moves are shorter than places
        const std::string stroke = fmt::format("m{} {}h{}", begin - pen.column, row - pen.row, end - begin);
        paths.at(of) += stroke;
        size += stroke.size();
        require_size(size, picture_); // one head alone may have too many
    });
    out += "<rect" + attribute("x", place.x) + attribute("y", place.y);
    out += attribute("width", size_.width) + attribute("height", size_.height) + attribute("fill", blank_fill) + "/>\n";
    const std::string move = fmt::format("translate({} {}) scale({} {})", length(place.x), length(place.y + cell_height_ / 2),
                                         length(cell_width_), length(cell_height_));
    append_strokes(out, paths, palette_, move);
}

void HeatMapPanels::append_panel(std::string& out, Index head, const PanelPlace& place) const
{
    append_labels(out, place);
    if (picture_.cells() > most_named_cells) {
        append_areas(out, head, place);
        return;
    }
    append_cells(out, head, place);
    if (value_font_ > 0) {
        append_values(out, head, place);
    }
}

ColourKey HeatMapPanels::key() const
{
    constexpr double shortest = 96;
    constexpr double longest = 240;
    return {picture_, palette_, std::clamp(size_.height, shortest, longest)};
}

} // namespace attn::report
