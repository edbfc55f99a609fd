#include "attn/io/texts/array_text.hpp"

#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace attn::io {
namespace {

/// The columns, in their order; the first two of them may be missing.
enum Column : std::size_t { index, array, layer, head, row, column, query_token, key_token, value, column_count };
constexpr std::array<std::string_view, column_count> names{"index",  "array",       "layer",     "head", "row",
                                                           "column", "query_token", "key_token", "value"};

/// Of which column each field of a record is; empty: the first line is another.
std::vector<Column> columns_in(const TextLine& line)
{
    std::vector<Column> columns;
    std::size_t at = 0;
    std::size_t next = 0;
    while (const std::optional<TextField> field = next_field(line, ',', at)) {
        const auto found = std::find(names.begin() + static_cast<std::ptrdiff_t>(next), names.end(), field->word);
        if (found == names.end()) {
            return {};
        }
        next = static_cast<std::size_t>(found - names.begin()) + 1;
        columns.push_back(static_cast<Column>(next - 1));
    }
    const auto optional = std::ranges::count_if(columns, [](Column each) { return each == index || each == layer; });
    return std::ssize(columns) - optional == column_count - 2 ? columns : std::vector<Column>();
}

using Record = std::array<TextField, column_count>;

/// What all records of one array have in common.
std::array<std::string_view, 3> key_of(const Record& record)
{
    return {record[index].word, record[array].word, record[layer].word};
}

/// How many there are along one dimension: as many in each part.
class Length {
public:
    /// One more.
    void count() { ++now_; }
    /// A part ends. Whether it has as many as those before.
    [[nodiscard]] bool end()
    {
        length_ = length_ == 0 ? now_ : length_;
        return std::exchange(now_, 0) == length_;
    }
    [[nodiscard]] Index length() const { return length_; }

private:
    Index now_ = 0, length_ = 0;
};

class CsvReader {
public:
    CsvReader(std::string_view text, const std::string& what) : text_(text), what_(what), numbers_(text, what) {}

    std::vector<ArrayText> read() &&
    {
        TextLines lines(text_);
        TextLine line;
        (void)lines.next(line);
        columns_ = columns_in(line);
        bool some = false;
        while (lines.next(line)) {
            if (trimmed(line.text).empty()) {
                continue;
            }
            const Record record = record_of(line);
            if (!some || key_of(record) != key_of(last_)) {
                if (some) {
                    end_array(line.number);
                }
                begin_array(record);
            } else if (record[head].word != last_[head].word) {
                end_head(line.number);
            } else if (record[row].word != last_[row].word) {
                end_row(line.number);
            }
            some = true;
            add(record);
            last_ = record;
        }
        if (some) {
            end_array(line.number);
        }
        return std::move(arrays_);
    }

private:
    [[nodiscard]] Record record_of(const TextLine& line) const
    {
        Record record;
        std::size_t at = 0;
        std::size_t count = 0;
        while (const std::optional<TextField> field = next_field(line, ',', at)) {
            if (count < columns_.size()) {
                record[columns_[count]] = *field;
            }
            ++count;
        }
        if (count != columns_.size()) {
            throw Error(ErrorKind::data, fmt::format("{}, line {}", what_, line.number),
                        counted(static_cast<Index>(count), "field"), fmt::format("{}, as in line 1", columns_.size()));
        }
        return record;
    }

    void begin_array(const Record& record)
    {
        first_ = record;
        columns_in_row_ = rows_in_head_ = heads_ = {};
        query_words_.clear();
        key_words_.clear();
    }

    void add(const Record& record)
    {
        columns_in_row_.count();
        const TextField& number = record[value];
        if (math::word_at(text_, number.begin).size() != number.word.size()) {
            refuse_word(text_, what_, number.begin, "a number");
        }
        numbers_.add(number.begin);
        const bool first_head = heads_.length() == 0 && record[head].word == first_[head].word;
        if (first_head && record[row].word == first_[row].word && key_words_.size() <= most_text_labels) {
            key_words_.push_back(unquoted(record[key_token].word));
        }
        const bool new_row = query_words_.empty() || record[row].word != last_[row].word;
        if (first_head && new_row && query_words_.size() <= most_text_labels) {
            query_words_.push_back(unquoted(record[query_token].word));
        }
    }

    void end_row(Index line)
    {
        require(columns_in_row_.end(), line, "a row of another length");
        rows_in_head_.count();
    }

    void end_head(Index line)
    {
        end_row(line);
        require(rows_in_head_.end(), line, "a head with another number of rows");
        heads_.count();
    }

    void require(bool good, Index line, const char* got) const
    {
        if (!good) {
            throw Error(ErrorKind::data, fmt::format("{}, before line {}", what_, line), got,
                        fmt::format("as many numbers as {} began with", in_quotes(first_[array].word, 30)));
        }
    }

    void end_array(Index line)
    {
        end_head(line);
        (void)heads_.end();
        Shape shape;
        for (const auto& [at, length] :
             {std::pair(head, heads_.length()), {row, rows_in_head_.length()}, {column, columns_in_row_.length()}}) {
            if (!first_[at].word.empty()) {
                shape.push_back(length);
            } else if (length != 1) {
                require(false, line, "several numbers without an index");
            }
        }
        arrays_.push_back(numbers_.take(name(), shape));
        const auto words = [&](std::vector<std::string>& list, Index length) {
            const bool known = std::ranges::none_of(list, [](const std::string& word) { return word.empty(); });
            return known && std::ssize(list) == length ? std::move(list) : std::vector<std::string>();
        };
        if (!first_[row].word.empty() && !first_[column].word.empty()) {
            arrays_.back().rows = words(query_words_, rows_in_head_.length());
            arrays_.back().columns = words(key_words_, columns_in_row_.length());
        }
        if (arrays_.size() > most_arrays) {
            throw Error(ErrorKind::data, what_, "more arrays", fmt::format("{} in a text", most_arrays));
        }
    }

    [[nodiscard]] std::string name() const
    {
        const auto& [of_index, of_array, of_layer] = key_of(first_);
        std::string name = of_layer.empty() ? "" : fmt::format("layers.{}.", of_layer);
        name += unquoted(of_array);
        Index number = 0;
        const bool counted = std::from_chars(of_index.data(), of_index.data() + of_index.size(), number).ec == std::errc{};
        return of_index.empty() ? name : fmt::format("line {} {}", counted ? number + 1 : number, name);
    }

    std::string_view text_;
    const std::string& what_;
    NumbersInText numbers_;
    std::vector<Column> columns_;
    std::vector<ArrayText> arrays_;
    Record first_, last_; ///< of the array
    Length columns_in_row_, rows_in_head_, heads_;
    std::vector<std::string> query_words_, key_words_;
};

} // namespace

bool begins_long_csv(std::string_view text)
{
    TextLines lines(text);
    TextLine line;
    return lines.next(line) && line.text.size() < 200 && !columns_in(line).empty();
}

std::vector<ArrayText> read_long_csv(std::string_view text, const std::string& what)
{
    return CsvReader(text, what).read();
}

} // namespace attn::io
