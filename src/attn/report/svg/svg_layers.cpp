#include "attn/math/decimal.hpp"
#include "attn/report/head_means.hpp"
#include "attn/report/svg/markup.hpp"
#include "attn/report/svg/svg_panels.hpp"
#include "attn/report/text/display.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace attn::report {
namespace {

using model::HeadSummary;
using model::Layer;
using model::Result;

constexpr Index most_cells = 64; // along a side of a map; neighbours are merged where there are more
constexpr double map_gap = 16;
constexpr double head_line = 20; // the names of the heads
constexpr double name_line = 18; // what a head does, below its map
constexpr double name_font = 10;
constexpr double label_font = 12;
constexpr double role_line = 18; // of the key
constexpr double swatch = 12;
constexpr double role_gap = 8;
constexpr int levels = 32; // of colours: what can be told apart in a cell of a pixel or two

/// A head, and what stands below its map: the mean that says what it does, otherwise the first one, its entropy.
struct NamedHead {
    const HeadSummary* head = nullptr; ///< null: of numbers that are no weights
    const ShownMean* mean = &head_means.front();
    std::string name = {}; ///< in front of it, where the heads of a column are not the same
    [[nodiscard]] std::string text() const { return (name.empty() ? "" : name + ": ") + mean_text(*mean, *head); }
};

NamedHead named_head(const model::Summary& summary, Index head)
{
    NamedHead named{.head = &summary.heads[static_cast<std::size_t>(head)]};
    if (const ShownMean* role = role_of(*named.head, summary.equal)) {
        named.mean = role;
    }
    return named;
}

double frame_of(const ShownMean& mean)
{
    return mean.is_share ? 3 : 1;
}

/// "layer 1, head 0: entropy 0.08, itself 0.33, …"
std::string all_means(const HeadSummary& head)
{
    std::string text;
    for (const ShownMean& mean : head_means) {
        if (mean.value(head)) {
            text += (text.empty() ? "" : ", ") + mean_text(mean, head);
        }
    }
    return text;
}

/// Shares of the scale, `merged` rows and columns to a cell; `move` says where the map is.
void append_thumbnail(std::string& out, const Picture& picture, Index head, Index merged, const Palette& palette,
                      const std::string& move)
{
    const Index rows = (picture.rows + merged - 1) / merged;
    const Index columns = (picture.columns + merged - 1) / merged;
    std::vector<Index> levels_of(static_cast<std::size_t>(rows * columns), -1); // blank
    for (Index i = 0; i < picture.rows; ++i) {
        for (Index j = 0; j < picture.columns; ++j) {
            const std::size_t place = picture.place(head, i, j);
            const Index column = picture.right_to_left ? columns - 1 - j / merged : j / merged;
            Index& level = levels_of[static_cast<std::size_t>(i / merged * columns + column)];
            level =
                picture.is_blank(place) ? level : std::max(level, static_cast<Index>(step_of(picture.share(place), levels)));
        }
    }
    std::array<std::string, levels> paths;
    const auto level = [&](Index row, Index column) { return levels_of[static_cast<std::size_t>(row * columns + column)]; };
    for_each_run(rows, columns, level, [&](Index row, Index begin, Index end, std::size_t of) {
        paths.at(of) += fmt::format("M{} {}h{}", begin, row, end - begin);
    });
    append_strokes(out, paths, palette, move);
}

/// The scale that all layers have in common, unless each row has its own.
ShadeOptions common_shade(const Result& result, const ShadeOptions& asked)
{
    ShadeOptions common = asked;
    double most = 0;
    for (const Layer& layer : result.layers) {
        const Picture picture = picture_of(result, layer, asked);
        if (picture.doubtful) { // each row from its least to its largest
            return {.shade = Shade::row, .most = {}};
        }
        common.shade = picture.scale.shade;
        most = std::max(most, picture.scale.high);
    }
    if (common.shade != Shade::row) {
        common.most = asked.most.value_or(most);
    }
    return common;
}

class LayersPicture {
public:
    LayersPicture(const Result& result, std::span<const model::Summary> summaries, const SvgOptions& options)
        : result_(result), layers_(result.layers), summaries_(summaries), options_(options),
          palette_(palette_of(options.ground)), shade_(common_shade(result, options.shade)),
          first_(picture_of(result, layers_.front(), shade_)),
          merged_((std::max(first_.rows, first_.columns) + most_cells - 1) / most_cells)
    {
        if (first_.doubtful) {
            summaries_ = {};
        }
        heads_ = widest(layers_, heads_of);
        columns_named_ = std::ranges::all_of(layers_, [&](const Layer& layer) { return layer.heads == layers_.front().heads; });
        const auto cells = [&](Index count) {
            const Index whole = (count + merged_ - 1) / merged_;
            return static_cast<double>(whole);
        };
        const double target = heads_ <= 8 ? 160 : heads_ <= 16 ? 128 : 96;
        unit_ = std::clamp(std::floor(target / cells(std::max(first_.rows, first_.columns))), 1.0, 16.0);
        width_ = unit_ * cells(first_.columns);
        height_ = unit_ * cells(first_.rows);
        step_x_ = std::max(width_, longest_name()) + map_gap;
        gutter_ =
            widest(layers_, [](const Layer& layer) { return std::ceil(text_width(name_of(layer)) * label_font); }) + map_gap;
    }

    [[nodiscard]] std::string draw() const
    {
        const std::string array = fmt::format("weights of {} of {} {}", counted(std::ssize(layers_), "layer"),
                                              counted(heads_, "head"), to_string(Shape{first_.rows, first_.columns}));
        const Heading heading = heading_of(array, "", note(), options_);
        const double top = margin + heading_height + body_gap + head_line;
        const double right = margin + gutter_ + static_cast<double>(heads_) * step_x_ - map_gap;
        const double bottom = top + static_cast<double>(layers_.size()) * step_y() - map_gap;
        const double key_x = right + key_gap;
        const double bar_height = 120;
        const ColourKey key{first_, palette_, bar_height};
        const double roles_y = top + bar_height + body_gap;
        const std::set<const ShownMean*> means = means_there();
        const double key_bottom = roles_y + role_line * static_cast<double>(means.size());
        const double width =
            std::max(key_x + std::max(key.width(), means_width(means)) + margin, least_width(heading, options_));
        std::string out = opening({width, std::max(bottom, key_bottom) + margin}, heading, options_);
        out += key.definitions();
        append_names(out, top);
        for (std::size_t row = 0; row < layers_.size(); ++row) {
            append_layer(out, row, top + static_cast<double>(row) * step_y());
            if (out.size() > most_bytes) {
                throw Error(ErrorKind::too_large, "picture",
                            fmt::format("{} × {} maps of {} × {} cells", layers_.size(), heads_, first_.rows, first_.columns),
                            fmt::format("what fits into {} MB; --layer or --head draws fewer", most_bytes / 1000000));
            }
        }
        key.append(out, key_x, top);
        append_means(out, means, key_x, roles_y);
        out += "</svg>\n";
        return out;
    }

private:
    [[nodiscard]] static Index heads_of(const Layer& layer) { return shape_of(*layer.find(model::Item::weights)).front(); }
    [[nodiscard]] static std::string name_of(const Layer& layer) { return model::name_of(layer.place()); }

    /// Those of all heads; none of numbers that are no weights.
    [[nodiscard]] std::vector<NamedHead> heads() const
    {
        std::vector<NamedHead> heads;
        for (std::size_t row = 0; row < summaries_.size(); ++row) {
            for (Index head = 0; head < std::ssize(summaries_[row].heads); ++head) {
                heads.push_back(head_at(row, head));
            }
        }
        return heads;
    }

    [[nodiscard]] NamedHead head_at(std::size_t row, Index head) const
    {
        NamedHead named = named_head(summaries_[row], head);
        named.name = columns_named_ ? "" : layers_[row].name_of_head(head);
        return named;
    }

    [[nodiscard]] double longest_name() const
    {
        const double longest = widest(heads(), [](const NamedHead& head) { return text_width(head.text()) * name_font; });
        return std::ceil(std::max(longest, text_width("head 00") * label_font));
    }

    /// In the order in which they are declared.
    [[nodiscard]] std::set<const ShownMean*> means_there() const
    {
        std::set<const ShownMean*> means;
        for (const NamedHead& head : heads()) {
            means.insert(head.mean);
        }
        return means;
    }

    [[nodiscard]] std::string note() const
    {
        std::string text = "rows are layers, columns heads; in a map rows are query words, columns key words";
        if (merged_ > 1) {
            text += fmt::format("; a cell is the largest of {0} × {0}", merged_);
        }
        if (!first_.row_scales.empty()) {
            text += "; colours: each row to its own largest";
        }
        return text + (first_.doubtful ? "" : "; below it what the head does most, as a mean over the rows that can");
    }

    void append_names(std::string& out, double top) const
    {
        const auto fullest = std::ranges::max_element(layers_, {}, heads_of);
        for (Index head = 0; columns_named_ && head < heads_; ++head) {
            append_text(out, fullest->name_of_head(head), margin + gutter_ + static_cast<double>(head) * step_x_,
                        top - head_line / 2, label_font, attribute("font-weight", "bold"));
        }
    }

    void append_layer(std::string& out, std::size_t row, double y) const
    {
        const Layer& layer = layers_[row];
        append_text(out, name_of(layer), margin, y + height_ / 2, label_font, attribute("font-weight", "bold"));
        const Picture picture = picture_of(result_, layer, shade_);
        for (Index head = 0; head < picture.heads; ++head) {
            append_map(out, row, picture, {head, margin + gutter_ + static_cast<double>(head) * step_x_, y});
        }
    }

    struct Place {
        Index head = 0;
        double x = 0, y = 0;
    };

    void append_map(std::string& out, std::size_t row, const Picture& picture, const Place& place) const
    {
        const Layer& layer = layers_[row];
        const NamedHead named = summaries_.empty() ? NamedHead() : head_at(row, place.head);
        const ShownMean& mean = *named.mean;
        const auto rectangle = [&](double around, const std::string& style) {
            out += "<rect" + attribute("x", place.x - around) + attribute("y", place.y - around);
            out += attribute("width", width_ + 2 * around) + attribute("height", height_ + 2 * around) + style + "/>\n";
        };
        out += fmt::format("<g><title>{}, {}{}</title>\n", name_of(layer), escaped(layer.name_of_head(place.head)),
                           named.head != nullptr ? ": " + escaped(all_means(*named.head)) : "");
        rectangle(0, attribute("fill", blank_fill));
        const std::string move =
            fmt::format("translate({} {}) scale({})", length(place.x), length(place.y + unit_ / 2), length(unit_));
        append_thumbnail(out, picture, place.head, merged_, palette_, move);
        const double line = frame_of(mean);
        rectangle(line / 2, attribute("fill", "none") + attribute("stroke", mean.colour) + attribute("stroke-width", line));
        out += "</g>\n";
        if (named.head != nullptr) {
            append_text(out, named.text(), place.x, place.y + height_ + name_line / 2 + 1, name_font,
                        mean.is_share ? "" : attribute("fill", palette_.grey_ink));
        }
    }

    [[nodiscard]] static double means_width(const std::set<const ShownMean*>& means)
    {
        return widest(means,
                      [](const ShownMean* mean) { return swatch + role_gap + text_width(key_text(*mean)) * label_font; });
    }

    [[nodiscard]] static std::string key_text(const ShownMean& mean)
    {
        return mean.is_share ? std::string(mean.header) : "none above " + math::fixed(least_role, 1);
    }

    static void append_means(std::string& out, const std::set<const ShownMean*>& means, double x, double y)
    {
        double middle = y + role_line / 2;
        for (const ShownMean* mean : means) {
            const double line = frame_of(*mean);
            out += "<rect" + attribute("x", x + line / 2) + attribute("y", middle - (swatch - line) / 2);
            out += attribute("width", swatch - line) + attribute("height", swatch - line) + attribute("fill", "none");
            out += attribute("stroke", mean->colour) + attribute("stroke-width", line) + "/>\n";
            append_text(out, key_text(*mean), x + swatch + role_gap, middle, label_font);
            middle += role_line;
        }
    }

    [[nodiscard]] double step_y() const { return height_ + name_line + map_gap; }

    const Result& result_;
    std::span<const Layer> layers_;
    std::span<const model::Summary> summaries_;
    const SvgOptions& options_;
    const Palette& palette_;
    ShadeOptions shade_;
    Picture first_; ///< of the first layer, as which all are shaded
    Index merged_;  ///< rows, and columns, to a cell
    Index heads_ = 0;
    bool columns_named_ = true;                ///< each is one head, the same in every layer
    double unit_ = 1, width_ = 0, height_ = 0; ///< of a cell and a map
    double step_x_ = 0, gutter_ = 0;
};

} // namespace

std::string draw_layers(const model::Result& result, std::span<const model::Summary> summaries, const SvgOptions& options)
{
    return LayersPicture(result, summaries, options).draw();
}

} // namespace attn::report
