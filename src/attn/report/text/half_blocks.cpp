#include "attn/report/text/half_blocks.hpp"

#include "attn/report/text/display.hpp"

#include <algorithm>
#include <functional>

namespace attn::report {
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
            header_ = std::max(header_, std::ssize(letters_.back()));
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

    [[nodiscard]] Scale scale_of(std::span<const Scalar> row) const
    {
        Scale scale = style_.scale;
        const Scalar largest = row.empty() ? Scalar(0) : *std::ranges::max_element(row);
        scale.high = scale.shade == Shade::row && largest > 0 ? static_cast<double>(largest) : scale.high;
        return scale;
    }

    void append_cells(std::string& out, Index map, Index row) const
    {
        const std::span<const Scalar> upper = row_of(map, row);
        const std::span<const Scalar> lower = row_of(map, row + 1);
        const auto share = [](const Scale& scale, std::span<const Scalar> of, Index column) {
            return of.empty() ? 0 : scale.share(static_cast<double>(of[static_cast<std::size_t>(column)]));
        };
        const Scale above = scale_of(upper);
        const Scale below = scale_of(lower);
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
