#include "attn/io/texts/array_text.hpp"

#include "attn/io/texts/printed_array.hpp"
#include "attn/model/recipe/items.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace attn::io {
namespace {

/// "weights, head 0 (3, 3)"
struct Title {
    std::string_view name;
    std::string_view head; ///< "head 0"; empty: there is one alone, or none
    Shape shape;
};

std::optional<Title> title_of(std::string_view line)
{
    constexpr std::size_t longest = 200;
    line = trimmed(line);
    const std::size_t bracket = line.rfind('(');
    if (line.size() > longest || bracket == std::string_view::npos || bracket < 2 || line[bracket - 1] != ' ') {
        return std::nullopt;
    }
    std::optional<Shape> shape = shape_in(line.substr(bracket));
    const std::string_view front = trimmed(line.substr(0, bracket));
    const std::string_view name = front.substr(0, front.find(','));
    const auto in_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const bool sizes = shape && !shape->empty() && std::ranges::find(*shape, 0) == shape->end();
    if (!sizes || name.empty() || !std::ranges::all_of(name, in_name)) {
        return std::nullopt;
    }
    return Title{name, trimmed(front.substr(std::min(name.size() + 1, front.size()))), std::move(*shape)};
}

/// "layer 3"
std::optional<Index> layer_of(std::string_view line)
{
    constexpr std::string_view word = "layer ";
    line = trimmed(line);
    Index layer = 0;
    if (!line.starts_with(word)) {
        return std::nullopt;
    }
    const auto [end, error] = std::from_chars(line.data() + word.size(), line.data() + line.size(), layer);
    return error == std::errc{} && end == line.data() + line.size() ? std::optional(layer) : std::nullopt;
}

Index count_words(const TextLine& line)
{
    Index count = 0;
    for (std::size_t at = 0; next_field(line, std::nullopt, at);) {
        ++count;
    }
    return count;
}

std::string_view word_at(const TextLine& line, Index word)
{
    std::size_t at = 0;
    for (; word > 0; --word) {
        (void)next_field(line, std::nullopt, at);
    }
    return next_field(line, std::nullopt, at).value_or(TextField{}).word;
}

class TableReader {
public:
    TableReader(std::string_view text, const std::string& what) : text_(text), what_(what), lines_(text), numbers_(text, what)
    {
    }

    std::vector<ArrayText> read() &&
    {
        std::string layer;
        for (TextLine line; lines_.next(line);) {
            if (const std::optional<Index> number = layer_of(line.text)) {
                layer = fmt::format("layers.{}.", *number);
            } else if (const std::optional<Title> title = title_of(line.text)) {
                read_array(layer + std::string(title->name), *title);
            }
        }
        end_array();
        return std::move(arrays_);
    }

private:
    void read_array(const std::string& name, const Title& title)
    {
        const bool next_head = heads_ > 0 && headed_ && !title.head.empty() && name == name_ && title.shape == shape_;
        if (!next_head) {
            end_array();
            name_ = name;
            item_ = model::item_called(title.name);
            shape_ = title.shape;
            headed_ = !title.head.empty();
        }
        TextLine header;
        if (!lines_.next(header)) {
            refuse_end(0);
        }
        const std::size_t begin = header.begin + (header.text.size() - trimmed_front(header.text).size());
        if (is_printed_array_at(text_, begin) && !is_header(header, begin)) {
            return read_printed(begin);
        }
        ++heads_;
        read_rows(header);
    }

    static std::string_view trimmed_front(std::string_view text)
    {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        return text;
    }

    /// Words of columns may look like the front of a printed array; but below them stands a whole row, and no line of an array
    /// that goes on holds one and ends in a number.
    [[nodiscard]] bool is_header(const TextLine& header, std::size_t begin) const
    {
        TextLines lines = lines_;
        TextLine below;
        const bool matrix = shape_.size() == 2;
        const bool indented = begin > header.begin || !matrix;
        if (shape_.size() > 2 || !indented || !lines.next(below)) {
            return false;
        }
        const Index words = count_words(below);
        const bool whole = matrix ? words > shape_.back() : words == shape_.back();
        const std::string_view row = trimmed(below.text);
        return whole && is_number(row.substr(row.find_last_of(" \t") + 1));
    }

    /// All heads are together there.
    void read_printed(std::size_t begin)
    {
        const std::size_t first = begin;
        ArrayText array = read_printed_array_at(text_, what_, begin);
        if (shape_.size() > 1 && array.shape != shape_) {
            throw Error(ErrorKind::data, place_in(text_, what_, first), fmt::format("the shape {}", to_string(array.shape)),
                        fmt::format("{}, as the title of {} says", to_string(shape_), in_quotes(name_, 40)));
        }
        array.name = name_;
        if (item_ && info_of(*item_).heads != model::Heads::none) {
            const bool one_number = info_of(*item_).axes.column == model::Axis::none;
            if (array.shape.size() == (one_number ? 1 : 2)) {
                array.shape.insert(array.shape.begin(), 1);
            }
        }
        keep(std::move(array));
        heads_ = 0;
        lines_.skip_to(begin);
        const std::string_view behind = trimmed_front(text_.substr(begin));
        if (!trimmed(behind.substr(0, behind.find_first_of("\r\n"))).empty()) {
            refuse_word(text_, what_, text_.size() - behind.size(), "nothing behind the array");
        }
    }

    void read_rows(const TextLine& header)
    {
        if (shape_.size() > 2) {
            throw Error(ErrorKind::data, fmt::format("{}: {}", what_, in_quotes(name_, 40)),
                        fmt::format("a table of the shape {}", to_string(shape_)),
                        "one or two dimensions, or brackets below the title");
        }
        const bool matrix = shape_.size() > 1;
        const bool sum = matrix && item_ == model::Item::weights && trimmed(header.text).ends_with(" sum");
        const bool of_first = heads_ == 1 && matrix;
        if (of_first) {
            keep_columns(header, sum);
        }
        const Index rows = matrix ? shape_[0] : 1;
        TextLine line = header;
        for (Index row = 0; row < rows; ++row) {
            if (!lines_.next(line) || trimmed(line.text).empty()) {
                refuse_end(row);
            }
            read_row(line, matrix, sum, of_first);
        }
        if (TextLine behind; lines_.next(behind) && !trimmed(behind.text).empty()) {
            throw Error(ErrorKind::data, fmt::format("{}, line {}", what_, behind.number), "one more row",
                        fmt::format("{}, as the title of {} says", rows, in_quotes(name_, 40)));
        }
    }

    void keep_columns(const TextLine& header, bool sum)
    {
        std::size_t at = 0;
        while (const std::optional<TextField> word = next_field(header, std::nullopt, at)) {
            if (columns_.size() <= most_text_labels) {
                columns_.emplace_back(word->word);
            }
        }
        if (sum && std::ssize(columns_) == shape_.back() + 1) {
            columns_.pop_back();
        }
    }

    /// The numbers are the last words, but for the sum, which the last word of a sentence may only be called.
    void read_row(const TextLine& line, bool matrix, bool sum, bool of_first)
    {
        const Index words = count_words(line);
        const Index width = shape_.back();
        const Index sums = sum && words >= width + 2 && is_number(word_at(line, words - width - 1)) ? 1 : 0;
        const Index labels = words - sums - width;
        require_all_columns(line, matrix ? std::max<Index>(labels, 1) : 0);
        if (labels < (matrix ? 1 : 0) || (!matrix && labels > 0)) {
            throw Error(ErrorKind::data, fmt::format("{}, line {}", what_, line.number),
                        counted(std::max<Index>(words - (matrix ? 1 : 0), 0), "number"),
                        fmt::format("{}, as the title of {} says", width, in_quotes(name_, 40)));
        }
        std::size_t at = 0;
        for (Index word = 0; const std::optional<TextField> field = next_field(line, std::nullopt, at); ++word) {
            if (word == labels && matrix && of_first && rows_.size() <= most_text_labels) {
                rows_.emplace_back(trimmed(line.text.substr(0, field->begin - line.begin)));
            }
            if (word >= labels && word < labels + width) {
                if (math::word_at(text_, field->begin).size() != field->word.size()) {
                    refuse_word(text_, what_, field->begin, "a number");
                }
                numbers_.add(field->begin);
            }
        }
        numbers_.end_row();
    }

    /// A label may be or end in "…", but no number is it.
    void require_all_columns(const TextLine& line, Index labels) const
    {
        std::size_t at = 0;
        for (Index word = 0; const std::optional<TextField> field = next_field(line, std::nullopt, at); ++word) {
            if (word >= labels && field->word.find("…") != std::string_view::npos) {
                throw Error(ErrorKind::data, fmt::format("{}, line {}", what_, line.number),
                            "columns left out, as a terminal shows", "all of them, which a pipe or a file gets");
            }
        }
    }

    [[noreturn]] void refuse_end(Index rows) const
    {
        throw Error(ErrorKind::data, fmt::format("{}: {}", what_, in_quotes(name_, 40)), counted(rows, "row"),
                    fmt::format("{}, as its title says", shape_.size() > 1 ? shape_[0] : 1));
    }

    void end_array()
    {
        if (heads_ == 0) {
            return;
        }
        Shape shape = shape_;
        const bool by_head = item_ && info_of(*item_).heads != model::Heads::none;
        const bool one_number = item_ && info_of(*item_).axes.column == model::Axis::none;
        if (headed_ || (by_head && (!one_number || shape.size() == 1))) {
            shape.insert(shape.begin(), heads_);
        }
        ArrayText array = numbers_.take(name_, std::move(shape));
        const bool per_pair = item_ && info_of(*item_).axes == model::per_pair;
        if (per_pair && std::ssize(rows_) == shape_.front() && std::ssize(columns_) == shape_.back()) {
            array.rows = std::move(rows_);
            array.columns = std::move(columns_);
        }
        rows_.clear();
        columns_.clear();
        heads_ = 0;
        keep(std::move(array));
    }

    void keep(ArrayText array)
    {
        arrays_.push_back(std::move(array));
        if (arrays_.size() > most_arrays) {
            throw Error(ErrorKind::data, what_, "more tables", fmt::format("{} in a text", most_arrays));
        }
    }

    std::string_view text_;
    const std::string& what_;
    TextLines lines_;
    NumbersInText numbers_;
    std::vector<ArrayText> arrays_;
    std::string name_; ///< of the array that is read
    std::optional<model::Item> item_;
    Shape shape_;     ///< of one head
    Index heads_ = 0; ///< that were read; 0: no array is open
    bool headed_ = false;
    std::vector<std::string> rows_, columns_;
};

} // namespace

bool begins_tables(std::string_view text)
{
    constexpr std::size_t far_enough = std::size_t{1} << 20U; // behind the words and their ids
    TextLines lines(text.substr(0, far_enough));
    for (TextLine line; lines.next(line);) {
        if (title_of(line.text)) {
            return true;
        }
    }
    return false;
}

std::vector<ArrayText> read_tables(std::string_view text, const std::string& what)
{
    return TableReader(text, what).read();
}

} // namespace attn::io
