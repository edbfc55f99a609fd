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

enum class Cell { empty, number, word };

/// The word that a field stands for: in quotes it is copied without them into `room`. It may be as long as the text.
std::string_view word_of(std::string_view field, std::string& room)
{
    if (!field.starts_with('"')) {
        return field;
    }
    room = unquoted(field);
    return room;
}

/// What is nearly a number is one, which is refused where it is read.
Cell cell_of(std::string_view word)
{
    return word.empty() ? Cell::empty : begins_as_number(word) ? Cell::number : Cell::word;
}

/// Whether it may stand above a column beside an empty corner: columns are counted there, but not named "0.5" or "-inf".
bool may_name_column(std::string_view word)
{
    const bool whole = word.find_first_not_of("-0123456789") == std::string_view::npos;
    return whole || !is_number(word) || word.find_first_of("+-.0123456789") != 0;
}

/// What the cells of a line are.
struct LineKind {
    Cell first = Cell::empty;
    std::size_t cells = 0, numbers = 0, words = 0;
    bool names = true; ///< all may name columns

    /// A line may end in a separator.
    LineKind(const TextLine& line, std::optional<char> separator)
    {
        std::size_t at = 0;
        std::string room;
        while (const std::optional<TextField> field = next_field(line, separator, at)) {
            if (field->word.empty() && cells > 0 && at > line.text.size()) {
                continue;
            }
            const std::string_view word = word_of(field->word, room);
            const bool row_name = cells == 0 && is_row_name(line, separator, *field, at);
            const Cell cell = row_name ? Cell::word : cell_of(word);
            first = cells == 0 ? cell : first;
            names = names && may_name_column(word);
            numbers += cell == Cell::number ? 1 : 0;
            words += cell == Cell::word ? 1 : 0;
            ++cells;
        }
    }

    [[nodiscard]] bool may_be_row() const { return numbers > 0 && words <= 1; }
    /// It holds something, but not in the first cell.
    [[nodiscard]] bool has_corner() const { return first == Cell::empty && numbers + words > 0; }

private:
    /// R counts rows, in quotes, before numbers without.
    static bool is_row_name(const TextLine& line, std::optional<char> separator, const TextField& field, std::size_t at)
    {
        const std::string_view word = field.word;
        const bool counted =
            word.size() > 2 && word.front() == '"' && word.find_first_not_of("0123456789", 1) == word.size() - 1;
        const std::optional<TextField> next = counted ? next_field(line, separator, at) : std::nullopt;
        return next && !next->word.empty() && next->word.front() != '"';
    }
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
        const LineKind two(second.value_or(TextLine{}), separator);
        const bool above_names = one.has_corner() && one.names && two.first != Cell::empty;
        header = (one.numbers == 0 && one.words > 0) || above_names;
        labels = header ? one.has_corner() || two.first == Cell::word
                        : one.first == Cell::word && one.words == 1 && two.first != Cell::number;
        numbers = one.may_be_row() || two.may_be_row();
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
            } else if (is_comment(line)) {
                require_comment(line);
            } else if (std::exchange(header, false)) {
                read_header(line);
            } else {
                read_row(line);
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
        while (const std::optional<TextField> field = next_field(line, layout_.separator, at)) {
            if (!(field->word.empty() && index > 0 && at > line.text.size())) {
                take(*field, index++);
            }
        }
    }

    void read_header(const TextLine& line)
    {
        each_field(line, [&](const TextField& field, Index) {
            if (columns_.size() <= most_text_labels) {
                columns_.push_back(unquoted(field.word));
            }
        });
    }

    /// Among rows with words "##ing,0.5,0.25" may be one, too, which must not be lost.
    void require_comment(const TextLine& line) const
    {
        if (!layout_.labels) {
            return;
        }
        const std::size_t begin = line.text.find('#');
        const LineKind kind(line, layout_.separator);
        const bool blank = trimmed(line.text.substr(begin + 1, 1)).empty();
        if (const bool row = kind.cells > 1 && kind.numbers + (kind.first == Cell::number ? 0 : 1) == kind.cells;
            row && !blank) {
            refuse_word(text_, what_, line.begin + begin,
                        "a blank behind the # of a comment, or quotes around a word before a row");
        }
    }

    void read_row(const TextLine& line)
    {
        if (trimmed(line.text).ends_with('*')) {
            refuse_word(text_, what_, line.begin + line.text.rfind('*'), without_factor);
        }
        Index width = 0;
        each_field(line, [&](const TextField& field, Index index) {
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

    void add(const TextField& field)
    {
        const bool quoted = field.word.starts_with('"');
        const std::size_t begin = field.begin + (quoted ? 1 : 0);
        const std::size_t length = field.word.size() - (quoted ? 2 : 0);
        if (length == 0 || math::word_at(text_, begin).size() != length || !numbers_.try_add(begin)) {
            std::string room;
            const std::string_view word = word_of(field.word, room);
            const bool of_first = rows_ == 0 && !layout_.header && cell_of(word) == Cell::word;
            throw Error(ErrorKind::data, place_in(text_, what_, field.begin),
                        word.empty() ? "an empty field" : in_quotes(field.word, 30),
                        of_first ? "a number, or words alone in the first line" : number_in_place_of(word));
        }
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
