#include "attn/report/text/grid.hpp"

#include "attn/math/decimal.hpp"
#include "attn/report/text/display.hpp"

#include <algorithm>
#include <cmath>
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
                width = std::max(width, std::ssize(cell(i, j)));
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
                sum_width_ = std::max(sum_width_, std::ssize(sum(i)));
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
        Scale scale = style_.scale;
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

} // namespace attn::report
