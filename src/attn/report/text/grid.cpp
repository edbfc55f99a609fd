#include "attn/report/text/grid.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/text/display.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace attn::report {
namespace {

constexpr std::string_view left_out = "…"; // in place of the columns that do not fit; one column wide
constexpr std::string_view masked_text = "masked";

void append_aligned_right(std::string& out, std::string_view text, Index text_width, Index width)
{
    out.append(static_cast<std::size_t>(std::max<Index>(width - text_width, 0)), ' ');
    out += text;
}

template <typename Scalar>
class Grid {
public:
    Grid(std::span<const Scalar> values, const GridStyle& style)
        : values_(values), style_(style), columns_(std::ssize(style.column_labels)),
          rows_(columns_ == 0 ? std::ssize(style.row_labels) : std::ssize(values) / columns_),
          notations_(notations_of(values, rows_, style.notation, style.digits))
    {
        choose_labels();
        measure_columns();
        measure_sums();
        choose_columns();
    }

    void write(Buffer& buffer) const
    {
        write_header(buffer);
        for (Index i = 0; i < rows_; ++i) {
            write_row(buffer, i);
        }
    }

    [[nodiscard]] bool fits() const { return shown_ == columns_; }

private:
    [[nodiscard]] std::span<const Scalar> row(Index i) const
    {
        return values_.subspan(static_cast<std::size_t>(i * columns_), static_cast<std::size_t>(columns_));
    }

    [[nodiscard]] std::string cell(Index i, Index j) const
    {
        const auto value = static_cast<double>(row(i)[static_cast<std::size_t>(j)]);
        if (style_.masked && value == -std::numeric_limits<double>::infinity()) {
            return std::string(masked_text);
        }
        return text_of(value, notations_[static_cast<std::size_t>(i)], style_.digits);
    }

    [[nodiscard]] double total(Index i) const { return std::accumulate(row(i).begin(), row(i).end(), 0.0); }

    [[nodiscard]] std::string sum(Index i) const { return math::fixed(total(i), style_.digits); }

    /// But for the rounding of each number, and of the sum as it is written.
    [[nodiscard]] bool sums_to_1(Index i) const
    {
        const double rounding = static_cast<double>(columns_) * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
        return std::abs(total(i) - 1) <= rounding || sum(i) == math::fixed(1, style_.digits);
    }

    /// Row names; on a terminal none takes more than a quarter of a line.
    void choose_labels()
    {
        for (const std::string& label : style_.row_labels) {
            labels_.push_back(style_.width ? shortened(label, std::max<Index>(*style_.width / 4, 4)) : label);
            label_width_ = std::max(label_width_, display_width(labels_.back()));
        }
    }

    /// Column names and widths, of all columns or, on a terminal, of as many as could ever fit.
    void measure_columns()
    {
        const Index most = style_.width ? std::min(columns_, *style_.width / 2 + 1) : columns_;
        for (Index j = 0; j < most; ++j) {
            Index width = 0;
            for (Index i = 0; i < rows_; ++i) {
                width = std::max<Index>(width, std::ssize(cell(i, j)));
            }
            const std::string& label = style_.column_labels[static_cast<std::size_t>(j)];
            headers_.push_back(style_.width ? shortened(label, std::max(width, *style_.width / 5)) : label);
            widths_.push_back(std::max(width, display_width(headers_.back())));
        }
    }

    void measure_sums()
    {
        bool all_1 = true;
        for (Index i = 0; i < rows_ && style_.sums; ++i) {
            all_1 = all_1 && sums_to_1(i);
        }
        if (!all_1) {
            sum_width_ = std::ssize(std::string_view("sum"));
            for (Index i = 0; i < rows_; ++i) {
                sum_width_ = std::max<Index>(sum_width_, std::ssize(sum(i)));
            }
        }
    }

    [[nodiscard]] Index column_gap(Index j) const { return j == 0 && label_width_ == 0 && !shaded() ? 0 : gap_; }

    [[nodiscard]] bool shaded() const { return style_.shading != Shading::none; }

    /// How many columns fit into `room` (without row names), given that the mark for left-out ones must fit too.
    [[nodiscard]] Index columns_within(Index room) const
    {
        Index used = 0;
        Index fitting = 0;
        for (Index j = 0; j < std::ssize(widths_); ++j) {
            used += column_gap(j) + widths_[static_cast<std::size_t>(j)];
            if (used + (j + 1 < columns_ ? gap_ + 1 : 0) <= room) {
                fitting = j + 1;
            }
        }
        return fitting;
    }

    /// Two spaces between columns, or one where that makes all of them fit; one more where blocks and marks stand between them.
    /// The sum stays as long as a column fits beside it.
    void choose_columns()
    {
        shown_ = columns_;
        const Index usual = style_.shading == Shading::blocks ? 3 : 2;
        const Index tight = style_.shading == Shading::blocks ? 2 : 1;
        gap_ = usual;
        if (!style_.width) {
            return;
        }
        const Index room = *style_.width - label_width_;
        const auto within = [&] { return columns_within(room - (sum_width_ > 0 ? gap_ + sum_width_ : 0)); };
        for (const Index gap : {usual, tight}) {
            gap_ = gap;
            if (within() == columns_) {
                return;
            }
        }
        gap_ = usual;
        sum_width_ = within() > 0 ? sum_width_ : 0;
        shown_ = within();
    }

    void write_header(Buffer& buffer) const
    {
        std::string& out = buffer.text();
        out.append(static_cast<std::size_t>(label_width_), ' ');
        for (Index j = 0; j < shown_; ++j) {
            const std::string& header = headers_[static_cast<std::size_t>(j)];
            append_aligned_right(out, header, display_width(header), column_gap(j) + widths_[static_cast<std::size_t>(j)]);
        }
        end_line(buffer, "sum");
    }

    void write_row(Buffer& buffer, Index i) const
    {
        std::string& out = buffer.text();
        if (!labels_.empty()) {
            const std::string& label = labels_[static_cast<std::size_t>(i)];
            const auto padding = static_cast<std::size_t>(label_width_ - display_width(label));
            out.append(style_.numbered_rows ? padding : 0, ' ');
            out += label;
            out.append(style_.numbered_rows ? 0 : padding, ' ');
        }
        const std::string_view mark = write_cells(out, i);
        end_line(buffer, sum_width_ > 0 ? sum(i) : "", mark, overhang(shown_ - 1));
    }

    /// Returns the mark of the row's largest value where that is among the columns left out.
    [[nodiscard]] std::string_view write_cells(std::string& out, Index i) const
    {
        ColourScale scale = style_.scale;
        const bool by_column = !style_.column_scales.empty();
        const double largest =
            shaded() && !by_column ? widest(row(i), [](Scalar value) { return static_cast<double>(value); }) : 0;
        scale.high = scale.shade == Shade::row && largest > 0 ? largest : scale.high;
        bool marked = largest == 0;
        for (Index j = 0; j < shown_; ++j) {
            const std::string number = cell(i, j);
            const Index width = column_gap(j) + widths_[static_cast<std::size_t>(j)];
            if (!shaded()) {
                append_aligned_right(out, number, std::ssize(number), width);
                continue;
            }
            scale = by_column ? style_.column_scales[static_cast<std::size_t>(j)] : scale;
            const auto value = static_cast<double>(row(i)[static_cast<std::size_t>(j)]);
            const bool mark = value == largest && largest > 0;
            marked = marked || mark;
            const std::string text = (mark ? std::string(largest_mark) : " ") + number;
            const Index text_width = 1 + std::ssize(number);
            if (!is_coloured(style_.shading)) {
                append_aligned_right(out, std::string(block_of(scale.share(value))) + text, 1 + text_width, width);
                continue;
            }
            // The colours reach one column beyond the number on both sides, so that neighbours touch: into the gap before it
            // and, where gaps are two columns wide, into the one behind it.
            const std::string colours = cell_colours(style_.shading, scale.share(value), mark);
            out.append(j == 0 ? static_cast<std::size_t>(gap_ - 1) : 0, ' ');
            out += colours;
            append_aligned_right(out, text, text_width, width - (gap_ - 1));
            out.append(static_cast<std::size_t>(overhang(j)), ' ');
            out += colours.empty() ? "" : colours_end;
        }
        return marked ? "" : largest_mark;
    }

    /// How many columns of the gap behind a column its colours take; none where the line ends.
    [[nodiscard]] Index overhang(Index j) const
    {
        const bool more = j + 1 < columns_ || sum_width_ > 0;
        return is_coloured(style_.shading) && j >= 0 && more ? gap_ - 1 : 0;
    }

    /// `mark` stands before "…"; so many columns of the gap are `taken` already.
    void end_line(Buffer& buffer, std::string_view row_sum, std::string_view mark = "", Index taken = 0) const
    {
        std::string& out = buffer.text();
        if (shown_ < columns_) {
            append_aligned_right(out, std::string(mark).append(left_out), mark.empty() ? 1 : 2, column_gap(shown_) + 1 - taken);
            taken = 0;
        }
        if (sum_width_ > 0) {
            append_aligned_right(out, row_sum, std::ssize(row_sum), gap_ + sum_width_ - taken);
        }
        out += '\n';
        buffer.settle();
    }

    std::span<const Scalar> values_;
    const GridStyle& style_;
    Index columns_, rows_;
    std::vector<Notation> notations_;           ///< one a row
    std::vector<std::string> labels_, headers_; ///< as they are printed
    std::vector<Index> widths_;                 ///< of the columns, without gaps
    Index label_width_ = 0, sum_width_ = 0;     ///< sum_width_ 0: no sums
    Index gap_ = 2, shown_ = 0;                 ///< spaces before a column, and how many columns are printed
};

} // namespace

Index write_parts(Buffer& buffer, const std::vector<std::string>& parts, std::optional<Index> width, Index indent)
{
    Index used = indent;
    for (const std::string& part : parts) {
        if (&part != &parts.front()) {
            const bool fits = !width || used + 1 + display_width(part) <= *width;
            buffer.append(fits ? " " : '\n' + blanks(indent));
            used = fits ? used + 1 : indent;
        }
        buffer.append(part);
        used += display_width(part);
    }
    return used;
}

void write_title(Buffer& buffer, const std::vector<std::string>& parts, std::optional<Index> width, const Legend& legend)
{
    constexpr Index apart = 2;
    const Index used = write_parts(buffer, parts, width);
    const bool beside = !width || used + apart + widest_legend <= *width;
    const std::string meaning = legend_of(legend, width);
    if (!meaning.empty()) {
        buffer.append(beside ? blanks(apart) : "\n");
        buffer.append(meaning);
    }
    buffer.append("\n");
}

template <typename Scalar>
void write_grid(Buffer& buffer, std::span<const Scalar> values, const GridStyle& style)
{
    Grid<Scalar>(values, style).write(buffer);
}

template <typename Scalar>
bool fits(std::span<const Scalar> values, const GridStyle& style)
{
    return Grid<Scalar>(values, style).fits();
}

template bool fits(std::span<const float>, const GridStyle&);
template bool fits(std::span<const double>, const GridStyle&);
template void write_grid(Buffer&, std::span<const float>, const GridStyle&);
template void write_grid(Buffer&, std::span<const double>, const GridStyle&);

namespace {

constexpr Index apart = 2; // columns between maps side by side
constexpr Index tallest_header = 6;
constexpr Index ruler_step = 5;

/// Each one column wide, as many as `most`, the last "…" where some are left out; empty where one is wider.
std::vector<std::string> letters_of(const std::string& word, Index most)
{
    std::vector<std::string> letters;
    const std::string text = shortened(word, most);
    for (std::string_view rest = text; !rest.empty();) {
        const Cluster cluster = front_cluster(rest);
        if (cluster.width != 1) {
            return {};
        }
        letters.emplace_back(rest.substr(0, cluster.bytes));
        rest.remove_prefix(cluster.bytes);
    }
    return letters;
}

template <typename Scalar>
class Maps {
public:
    Maps(std::span<const Scalar> values, const std::vector<std::string>& names, const GridStyle& style)
        : values_(values), names_(names), style_(style), width_(style.width.value()), rows_(std::ssize(style.row_labels)),
          columns_(std::ssize(style.column_labels)), count_(std::max<Index>(std::ssize(names), 1))
    {
        choose_widths();
        choose_header();
    }

    void write(Buffer& buffer) const
    {
        for (Index first = 0; first < count_; first += a_band_) {
            const Index end = std::min(first + a_band_, count_);
            buffer.append(first == 0 ? "" : "\n");
            if (!names_.empty()) {
                write_line(buffer, first, end, "", [&](std::string& out, Index map) {
                    out += aligned_left(names_[static_cast<std::size_t>(map)], map_width_);
                });
            }
            write_header(buffer, first, end);
            for (Index row = 0; row < rows_; row += 2) {
                write_line(buffer, first, end, labels_of(row),
                           [&](std::string& out, Index map) { append_cells(out, map, row); });
            }
        }
    }

private:
    /// Words take what the columns leave, but a quarter of the line at most, and on a narrow terminal nothing.
    void choose_widths()
    {
        constexpr Index shortest = 3;
        constexpr Index fewest_columns = 8;
        const Index sides = rows_ > 1 ? 2 : 1; // words on a line
        const Index longest = widest(style_.row_labels, display_width);
        const Index left = width_ / sides - 1 - (columns_ + sides - 1) / sides;
        label_width_ = std::min({longest, std::max(left, shortest), std::max(width_ / 8, shortest)});
        if (width_ < sides * (label_width_ + 1) + fewest_columns) {
            label_width_ = 0;
        }
        margin_ = label_width_ == 0 ? 0 : sides * (label_width_ + 1);
        const Index room = std::max<Index>(width_ - margin_, 1);
        shown_ = columns_ <= room ? columns_ : room - 1; // beside "…"
        map_width_ = std::max(shown_ + (shown_ < columns_ ? 1 : 0), std::min(widest(names_, display_width), room));
        a_band_ = std::max<Index>((room + apart) / (map_width_ + apart), 1);
    }

    void choose_header()
    {
        for (Index j = 0; j < shown_; ++j) {
            letters_.push_back(letters_of(style_.column_labels[static_cast<std::size_t>(j)], tallest_header));
            header_ = std::max<Index>(header_, std::ssize(letters_.back()));
        }
        ruled_ = std::ranges::any_of(letters_, [](const auto& letters) { return letters.empty(); });
    }

    template <typename Append>
    void write_line(Buffer& buffer, Index first, Index end, const std::string& labels, Append append) const
    {
        std::string& out = buffer.text();
        const std::size_t begin = out.size();
        out += aligned_left(labels, margin_);
        for (Index map = first; map < end; ++map) {
            append(out, map);
            out.append(map + 1 < end ? apart : 0, ' ');
        }
        out.resize(std::max(out.find_last_not_of(' ') + 1, begin));
        out += '\n';
        buffer.settle();
    }

    void write_header(Buffer& buffer, Index first, Index end) const
    {
        const auto line = [&](const std::string& text) {
            write_line(buffer, first, end, "", [&](std::string& out, Index) { out += aligned_left(text, map_width_); });
        };
        if (ruled_) {
            return line(ruler());
        }
        for (Index row = 0; row < header_; ++row) {
            std::string text;
            for (const std::vector<std::string>& letters : letters_) {
                const Index letter = row - (header_ - std::ssize(letters)); // words end at the map
                text += letter < 0 ? " " : letters[static_cast<std::size_t>(letter)];
            }
            line(text);
        }
    }

    /// "0    5    10"
    [[nodiscard]] std::string ruler() const
    {
        std::string text;
        for (Index j = 0; j < shown_; j += ruler_step) {
            const std::string number = std::to_string(j);
            if (j + std::ssize(number) <= shown_) {
                text.append(static_cast<std::size_t>(j) - text.size(), ' ');
                text += number;
            }
        }
        return text;
    }

    [[nodiscard]] std::string labels_of(Index row) const
    {
        std::string text;
        for (Index i = row; i < std::min(row + 2, rows_) && label_width_ > 0; ++i) {
            text += aligned_left(shortened(style_.row_labels[static_cast<std::size_t>(i)], label_width_), label_width_ + 1);
        }
        return text;
    }

    /// Of a row that there is not, no values.
    [[nodiscard]] std::span<const Scalar> row_of(Index map, Index row) const
    {
        return row == rows_ ? std::span<const Scalar>()
                            : values_.subspan(static_cast<std::size_t>((map * rows_ + row) * columns_),
                                              static_cast<std::size_t>(columns_));
    }

    [[nodiscard]] ColourScale scale_of(std::span<const Scalar> row) const
    {
        ColourScale scale = style_.scale;
        const Scalar largest = row.empty() ? Scalar(0) : *std::ranges::max_element(row);
        scale.high = scale.shade == Shade::row && largest > 0 ? static_cast<double>(largest) : scale.high;
        return scale;
    }

    void append_cells(std::string& out, Index map, Index row) const
    {
        const std::span<const Scalar> upper = row_of(map, row);
        const std::span<const Scalar> lower = row_of(map, row + 1);
        const auto share = [](const ColourScale& scale, std::span<const Scalar> of, Index column) {
            return of.empty() ? 0 : scale.share(static_cast<double>(of[static_cast<std::size_t>(column)]));
        };
        const ColourScale above = scale_of(upper);
        const ColourScale below = scale_of(lower);
        std::string colours; // an escape sequence only where they change
        const auto append = [&](const HalfCell& cell) {
            if (cell.colours != colours) {
                out += cell.colours.empty() ? colours_end : cell.colours;
                colours = cell.colours;
            }
            out += cell.character;
        };
        for (Index j = 0; j < shown_; ++j) {
            append(half_cell(style_.shading, share(above, upper, j), share(below, lower, j)));
        }
        append({});
        out += shown_ < columns_ ? "…" : "";
        out += blanks(map_width_ - shown_ - (shown_ < columns_ ? 1 : 0));
    }

    std::span<const Scalar> values_;
    const std::vector<std::string>& names_;
    const GridStyle& style_;
    Index width_, rows_, columns_, count_;
    Index label_width_ = 0, margin_ = 0; ///< of one word, and of what stands left of the maps
    Index shown_ = 0, map_width_ = 0;    ///< columns of a map that are drawn, and what it takes on a line
    Index a_band_ = 1;                   ///< maps side by side
    std::vector<std::vector<std::string>> letters_;
    Index header_ = 0;
    bool ruled_ = false; ///< positions stand above the columns
};

} // namespace

template <typename Scalar>
void write_half_blocks(Buffer& buffer, std::span<const Scalar> values, const std::vector<std::string>& names,
                       const GridStyle& style)
{
    Maps<Scalar>(values, names, style).write(buffer);
}

template void write_half_blocks(Buffer&, std::span<const float>, const std::vector<std::string>&, const GridStyle&);
template void write_half_blocks(Buffer&, std::span<const double>, const std::vector<std::string>&, const GridStyle&);

} // namespace attn::report
