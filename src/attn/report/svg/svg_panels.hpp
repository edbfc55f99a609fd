// The two kinds of panels of an SVG picture, the labels of their axes, and the keys beside them. svg.cpp puts them into a grid.
#pragma once

#include "attn/report/svg/picture.hpp"
#include "attn/report/svg/svg.hpp"
#include "attn/tensor/shape.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::report {

// Which labels of an axis are drawn, and how, so that none runs into another.

/// Baselines are this many font sizes apart at least.
inline constexpr double line_height = 1.3;

struct DrawnLabel {
    Index place = 0; ///< on the axis
    std::string text;
};

struct FittedLabels {
    std::vector<DrawnLabel> labels; ///< in the order of their places
    bool turned = false;            ///< by 90 degrees: they read upwards
    double extent = 0;              ///< pixels across the axis: of rows the widest label, of columns the height of them all
};

struct LabelRoom {
    double pitch = 0;   ///< pixels from one place to the next
    double font = 0;    ///< size in pixels
    double longest = 0; ///< pixels that a label may have; what is longer is shortened
    /// One per place: where not every label has room, those of the most important places are drawn; empty: every n-th.
    std::span<const double> importance;
};

/// Below each other, each beside the middle of its place.
[[nodiscard]] FittedLabels fit_rows(std::span<const std::string> words, const LabelRoom& room);

/// Side by side, each over the middle of its place: level where each word fits into its column whole, else turned.
[[nodiscard]] FittedLabels fit_columns(std::span<const std::string> words, const LabelRoom& room);

inline constexpr double margin = 24;
inline constexpr double title_font = 16;
inline constexpr double note_font = 12;
inline constexpr double heading_height = title_font + 8 + note_font; ///< title and note
inline constexpr double body_gap = 20;                               ///< between them and the panels
inline constexpr double key_gap = 28;
inline constexpr std::size_t most_bytes = 30000000;
inline constexpr Index many_words = 64; ///< of arcs: up to so many of a side are drawn, whether a line ends there or not

/// What stands above a picture.
struct Heading {
    std::string title, note;
    std::string description; ///< for who hears the picture
};
/// `array`: "weights of 4 heads (6, 6)"; `usual`: the title unless the options have one; empty: the array.
[[nodiscard]] Heading heading_of(const std::string& array, const std::string& usual, const std::string& note,
                                 const SvgOptions& options);

/// From the first byte to the heading, with a caption at the bottom if there is one. `height` ends above it.
struct PictureSize {
    double width = 0, height = 0;
};
[[nodiscard]] std::string opening(const PictureSize& size, const Heading& heading, const SvgOptions& options);
/// How wide a picture has to be for its heading and caption.
[[nodiscard]] double least_width(const Heading& heading, const SvgOptions& options);

/// Fills a place without a colour of the scale.
inline constexpr std::string_view blank_fill = "url(#blank)";

/// The colour bar with its numbers, and what blank places are.
struct ColourKey {
    const Picture& picture;
    const Palette& palette;
    double height = 0;
    [[nodiscard]] double width() const;
    /// Top left at (x, y).
    void append(std::string& out, double x, double y) const;
    /// The <defs> of its picture: the colours, and the pattern of places that have none.
    [[nodiscard]] std::string definitions() const;
};

/// Calls `use(row, begin, end, level)` for the neighbours in a row that have one level; below 0 there is none.
template <typename Level, typename Use>
void for_each_run(Index rows, Index columns, const Level& level, const Use& use)
{
    for (Index row = 0; row < rows; ++row) {
        for (Index begin = 0, end = 0; begin < columns; begin = end) {
            const Index here = level(row, begin);
            for (end = begin + 1; end < columns && level(row, end) == here;) {
                ++end;
            }
            if (here >= 0) {
                use(row, begin, end, static_cast<std::size_t>(here));
            }
        }
    }
}
/// A path a level, whose unit is a cell, in the colours of as many even steps; `move` says where the cells are.
void append_strokes(std::string& out, std::span<const std::string> paths, const Palette& palette, const std::string& move);

/// Several layers.
[[nodiscard]] std::string draw_layers(const model::Result& result, std::span<const model::Summary> summaries,
                                      const SvgOptions& options);

/// Throws Error(too_large) when a picture has grown beyond 30 MB.
void require_size(std::size_t bytes, const Picture& picture);

/// Text whose middle lies on `y`. `attributes` begin with a space.
void append_text(std::string& out, std::string_view text, double x, double y, double font, std::string_view attributes = "");

/// Pixels. `header` lies above the body of each panel, `gutter` at the side of a row of panels where reading begins: at the
/// left of the first one, or at the right of the last one.
struct PanelSize {
    double width = 0, height = 0, header = 0, gutter = 0;
    bool gutter_at_right = false;
};

/// Where the body of a panel begins, and whether it lies at the gutter.
struct PanelPlace {
    double x = 0, y = 0;
    bool labelled = false;
};

/// Cells coloured by value, with the numbers in them where they fit, rows and columns named.
class HeatMapPanels {
public:
    HeatMapPanels(const Picture& picture, const SvgOptions& options);

    [[nodiscard]] const PanelSize& size() const { return size_; }
    /// What rows and columns are, below the title.
    [[nodiscard]] std::string note() const;
    void append_panel(std::string& out, Index head, const PanelPlace& place) const;
    [[nodiscard]] ColourKey key() const;

private:
    void choose_cells();
    void choose_labels();
    void choose_value_font();
    void append_labels(std::string& out, const PanelPlace& place) const;
    void append_cells(std::string& out, Index head, const PanelPlace& place) const;
    void append_values(std::string& out, Index head, const PanelPlace& place) const;
    void append_areas(std::string& out, Index head, const PanelPlace& place) const;

    /// Where a column stands, counted from the left; and which one stands there.
    [[nodiscard]] Index drawn_column(Index column) const
    {
        return picture_.right_to_left ? picture_.columns - 1 - column : column;
    }
    /// Blanks have none.
    [[nodiscard]] std::optional<Rgb> colour_in(std::size_t place) const;

    const Picture& picture_;
    const SvgOptions& options_;
    const Palette& palette_;
    double cell_width_ = 0, cell_height_ = 0, gap_ = 0;
    double value_font_ = 0; ///< 0: values do not fit
    double row_font_ = 0, column_font_ = 0;
    FittedLabels rows_, columns_;
    PanelSize size_;
};

/// Sample lines and the weights that they stand for, the heaviest on top.
struct LineKey {
    LineKey(const Picture& picture, const Palette& colours);

    const Palette& palette;
    double thickest; ///< what the thickest line stands for; of numbers none of which has a line, 1
    Ticks samples;
    double height;

    [[nodiscard]] double share(double value) const { return std::min(value / thickest, 1.0); }
    [[nodiscard]] double width() const;
    void append(std::string& out, double x, double y) const;
    [[nodiscard]] static std::string definitions() { return {}; }
};

/// Query words on the left, key words on the right, lines between them as thick as the weight.
class ArcPanels {
public:
    ArcPanels(const Picture& picture, const SvgOptions& options);

    [[nodiscard]] const PanelSize& size() const { return size_; }
    /// What the lines are, and which are left out.
    [[nodiscard]] std::string note() const;
    void append_panel(std::string& out, Index head, const PanelPlace& place) const;
    [[nodiscard]] const LineKey& key() const { return key_; }

private:
    /// What one head shows: lines, the weakest first, and the words of both sides by their places.
    struct Panel {
        std::vector<model::Pair> lines;
        std::vector<Index> rows, columns;
        bool some_lines = false; ///< weaker ones are left out
    };
    [[nodiscard]] std::vector<model::Pair> visible_lines(Index head, Index most) const;
    [[nodiscard]] Panel panel_of(Index head, Index most) const;
    /// Where x lies when words run from right to left, queries at the right.
    [[nodiscard]] double mirrored(double x, const PanelPlace& place) const;
    [[nodiscard]] std::string label(const std::vector<std::string>& words, Index place) const;
    void measure();
    void append_words(std::string& out, const Panel& panel, const PanelPlace& place) const;
    void append_line(std::string& out, const model::Pair& line, double from, double to, const PanelPlace& place) const;

    const Picture& picture_;
    LineKey key_;
    std::optional<Index> most_; ///< lines a head; absent: all that can be seen
    std::vector<Panel> panels_;
    bool some_words_ = false; ///< words without a line are left out, the others have their positions
    bool named_ = false;      ///< each line has a tooltip
    double pitch_ = 0, left_ = 0, right_ = 0, span_ = 0;
    PanelSize size_;
};

} // namespace attn::report
