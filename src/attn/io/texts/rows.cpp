#include "attn/io/texts/array_text.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace attn::io {
namespace {

bool is_blank(const TextLine& line)
{
    return trimmed(line.text).empty();
}

bool is_comment(const TextLine& line)
{
    return trimmed(line.text).starts_with('#');
}

/// The next line that holds something.
std::optional<TextLine> next_filled(TextLines& lines)
{
    for (TextLine line; lines.next(line);) {
        if (!is_blank(line) && !is_comment(line)) {
            return line;
        }
    }
    return std::nullopt;
}

std::optional<char> separator_of(const TextLine& line)
{
    for (const char separator : {';', ',', '\t'}) {
        if (trimmed(line.text).find(separator) != std::string_view::npos) {
            return separator;
        }
    }
    return std::nullopt;
}

/// "0,5", which is one but for its comma, and is said to be so where it is read.
bool is_comma_number(std::string_view word)
{
    const std::size_t comma = word.find(',');
    return comma != std::string_view::npos &&
           is_number(std::string(word.substr(0, comma)).append(".").append(word.substr(comma + 1)));
}

/// What the fields of a line are.
struct LineKind {
    std::size_t numbers = 0, others = 0;
    bool begins_with_number = false, begins_empty = false;

    /// A line may end in a separator.
    LineKind(const TextLine& line, std::optional<char> separator)
    {
        std::size_t at = 0;
        while (const std::optional<Field> field = next_field(line, separator, at)) {
            const bool first = numbers + others == 0;
            const std::string word = unquoted(field->word);
            const bool number = is_number(word) || is_comma_number(word);
            if (field->word.empty() && !first && at > line.text.size()) {
                continue;
            }
            begins_with_number = begins_with_number || (first && number);
            begins_empty = begins_empty || (first && field->word.empty());
            (number ? numbers : others) += 1;
        }
    }

    [[nodiscard]] std::size_t fields() const { return numbers + others; }
};

/// What the first lines say of all of them.
struct RowLayout {
    std::optional<char> separator;
    bool header = false;  ///< words of the columns
    bool labels = false;  ///< a word before each row
    bool numbers = false; ///< there are some

    explicit RowLayout(std::string_view text)
    {
        TextLines lines(text);
        const std::optional<TextLine> first = next_filled(lines);
        if (!first) {
            return;
        }
        separator = separator_of(*first);
        const std::optional<TextLine> second = next_filled(lines);
        const LineKind one(*first, separator);
        const std::optional<LineKind> two = second ? std::optional<LineKind>(LineKind(*second, separator)) : std::nullopt;
        const bool labelled = one.others == 1 && one.numbers > 0 && !one.begins_with_number;
        header = one.others > 0 && (!labelled || one.begins_empty || (two && two->begins_with_number));
        const std::optional<LineKind> row = header ? two : one;
        if (row) {
            labels = !row->begins_with_number || (header && one.begins_empty);
            numbers = row->numbers > 0 && row->others <= 1;
        }
    }
};

class RowReader {
public:
    RowReader(std::string_view text, const std::string& what) : text_(text), what_(what), layout_(text), numbers_(text, what) {}

    ArrayText read() &&
    {
        bool header = layout_.header;
        TextLines lines(text_);
        for (TextLine line; lines.next(line);) {
            if (is_blank(line)) {
                end_block();
            } else if (!is_comment(line)) {
                if (std::exchange(header, false)) {
                    read_header(line);
                } else {
                    read_row(line);
                }
            }
        }
        end_block();
        if (rows_ == 0) {
            throw Error(ErrorKind::data, what_, "no row of numbers", "at least one");
        }
        return finished();
    }

private:
    /// Of a line that ends in a separator the last field is none.
    template <typename Take>
    void each_field(const TextLine& line, Take take)
    {
        std::size_t at = 0;
        Index index = 0;
        while (const std::optional<Field> field = next_field(line, layout_.separator, at)) {
            if (!(field->word.empty() && index > 0 && at > line.text.size())) {
                take(*field, index++);
            }
        }
    }

    void read_header(const TextLine& line)
    {
        each_field(line, [&](const Field& field, Index) {
            if (columns_.size() <= most_text_labels) {
                columns_.push_back(unquoted(field.word));
            }
        });
    }

    void read_row(const TextLine& line)
    {
        Index width = 0;
        each_field(line, [&](const Field& field, Index index) {
            if (layout_.labels && index == 0) {
                if (labels_.size() <= most_text_labels) {
                    labels_.push_back(unquoted(field.word));
                }
                return;
            }
            add(field);
            ++width;
        });
        if (rows_ == 0) {
            width_ = width;
            first_line_ = line.number;
        }
        if (width != width_ || width == 0) {
            throw Error(ErrorKind::data, fmt::format("{}, line {}", what_, line.number), counted(width, "number"),
                        rows_ == 0 ? "at least one" : fmt::format("{}, as in line {}", width_, first_line_));
        }
        ++rows_;
        ++rows_of_block_;
    }

    void add(const Field& field)
    {
        const bool quoted = field.word.starts_with('"');
        const std::size_t begin = field.begin + (quoted ? 1 : 0);
        const std::size_t length = field.word.size() - (quoted ? 2 : 0);
        if (field.word.empty() || math::word_at(text_, begin).size() != length) {
            throw Error(ErrorKind::data, place_in(text_, what_, field.begin),
                        field.word.empty() ? "an empty field" : in_quotes(field.word, 30), "a number, with a decimal point");
        }
        numbers_.add(begin);
    }

    /// A blank line, or the end.
    void end_block()
    {
        if (rows_of_block_ == 0) {
            return;
        }
        if (blocks_ == 0) {
            rows_of_first_ = rows_of_block_;
        } else if (rows_of_block_ != rows_of_first_) {
            throw Error(ErrorKind::data, what_,
                        fmt::format("arrays of {} and {} after a blank line", counted(rows_of_first_, "row"),
                                    counted(rows_of_block_, "row")),
                        "one array, or heads of the same shape");
        }
        ++blocks_;
        rows_of_block_ = 0;
    }

    ArrayText finished()
    {
        Shape shape{rows_, width_};
        if (blocks_ > 1 && rows_of_first_ > 1) {
            shape = {blocks_, rows_of_first_, width_};
        } else if (width_ == 1 && !layout_.labels && !layout_.header) {
            shape = {rows_};
        }
        ArrayText array = numbers_.take_unpadded("", std::move(shape));
        if (std::ssize(columns_) == width_ + 1 && layout_.labels) { // what stands above the words of the rows
            columns_.erase(columns_.begin());
        }
        if (std::ssize(columns_) == width_) {
            array.columns = std::move(columns_);
        }
        if (std::ssize(labels_) >= rows_of_first_ && layout_.labels) {
            labels_.resize(static_cast<std::size_t>(blocks_ > 1 && rows_of_first_ > 1 ? rows_of_first_ : rows_));
            array.rows = std::move(labels_);
        }
        return array;
    }

    std::string_view text_;
    const std::string& what_;
    RowLayout layout_;
    NumbersInText numbers_;
    std::vector<std::string> columns_, labels_;
    Index rows_ = 0, width_ = 0, first_line_ = 0;
    Index blocks_ = 0, rows_of_block_ = 0, rows_of_first_ = 0; ///< between blank lines
};

} // namespace

bool begins_rows(std::string_view text)
{
    return RowLayout(text).numbers;
}

ArrayText read_rows(std::string_view text, const std::string& what)
{
    return RowReader(text, what).read();
}

} // namespace attn::io
