#include "attn/io/texts/array_text.hpp"

#include "attn/io/bytes.hpp"
#include "attn/io/texts/printed_array.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_set>

namespace attn::io {
namespace {

constexpr std::string_view blank_space = " \t\r\n\v\f";

bool is_truth(std::string_view word)
{
    return word == "True" || word == "False" || word == "true" || word == "false";
}

bool is_whole(std::string_view number)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    return error == std::errc{} && end == number.data() + number.size();
}

} // namespace

NumbersInText::NumbersInText(std::string_view text, const std::string& what) : text_(text), what_(what)
{
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) { // what a place can say
        throw Error(ErrorKind::too_large, what, fmt::format("{} bytes", text.size()), "up to 4294967295");
    }
}

void NumbersInText::add(std::size_t begin)
{
    if (!try_add(begin)) {
        refuse_word(text_, what_, begin, number_in_place_of(math::word_at(text_, begin)));
    }
}

bool NumbersInText::try_add(std::size_t begin)
{
    const std::string_view word = math::word_at(text_, begin);
    const std::string_view number = math::usual_spelling(word);
    if (!seen_.add(number)) {
        return false;
    }
    const bool truth = is_truth(word);
    all_truths_ = all_truths_ && truth;
    all_whole_ = all_whole_ && !truth && is_whole(number);
    if (places_.begins.size() == places_.begins.capacity()) {
        make_room(begin);
    }
    places_.begins.push_back(static_cast<std::uint32_t>(begin));
    return true;
}

void NumbersInText::make_room(std::size_t begin)
{
    constexpr std::size_t few = 4096;
    const std::size_t count = places_.begins.size();
    if (count >= few) { // twice as much each time would hold three times as much while it moves
        const auto read = static_cast<double>(begin - places_.begins.front() + 1);
        const double more = 1.02 * static_cast<double>(count) * static_cast<double>(text_.size() - begin) / read;
        places_.begins.reserve(count + std::max(static_cast<std::size_t>(more), count / 8));
    }
}

void NumbersInText::end_row()
{
    places_.digits.emplace_back(seen_.digits());
    seen_ = {};
}

ArrayText NumbersInText::take(std::string name, Shape shape)
{
    if (places_.digits.empty()) {
        end_row();
    }
    if (element_count(shape) != count()) {
        throw Error(ErrorKind::internal, what_, fmt::format("{} numbers", count()), "the shape " + to_string(shape));
    }
    const bool some = count() > 0;
    ArrayText array{.name = std::move(name), .shape = std::move(shape), .numbers = std::move(places_)};
    if (array.numbers.begins.capacity() > 2 * array.numbers.begins.size()) { // another array follows
        array.numbers.begins.shrink_to_fit();
    }
    array.whole = some && all_whole_;
    array.truths = some && all_truths_;
    places_ = {};
    seen_ = {};
    all_whole_ = all_truths_ = true;
    return array;
}

ArrayText NumbersInText::take_unpadded(std::string name, Shape shape)
{
    places_.digits.emplace_back(seen_.digits_unpadded());
    return take(std::move(name), std::move(shape));
}

std::string place_in(std::string_view text, const std::string& what, std::size_t offset)
{
    return fmt::format("{}, {}", what, position_in(text, offset));
}

void refuse_word(std::string_view text, const std::string& what, std::size_t offset, std::string_view allowed)
{
    constexpr std::size_t most = 30;
    const std::string_view rest = text.substr(offset);
    const std::size_t size = std::max<std::size_t>(1, math::word_at(text, offset).size());
    throw Error(ErrorKind::data, place_in(text, what, offset),
                rest.empty() ? "the end of the text" : in_quotes(rest.substr(0, size), most), allowed);
}

TextLines::TextLines(std::string_view text) : text_(text), at_(text.size() - without_byte_order_mark(text).size()) {}

void TextLines::skip_to(std::size_t place)
{
    while (at_ < place) {
        const std::size_t end = line_end_size(text_, at_);
        number_ += end > 0 ? 1 : 0;
        at_ += std::max<std::size_t>(end, 1);
    }
}

bool TextLines::next(TextLine& line)
{
    if (at_ >= text_.size()) {
        return false;
    }
    if (newline_ <= at_) {
        newline_ = std::min(text_.find('\n', at_), text_.size());
    }
    line = {at_, text_.substr(at_, newline_ - at_), ++number_};
    line.text = line.text.substr(0, line.text.find('\r'));
    at_ += line.text.size() + std::max<std::size_t>(line_end_size(text_, at_ + line.text.size()), 1);
    return true;
}

bool is_number(std::string_view word)
{
    return !word.empty() && math::DigitsSeen().add(math::usual_spelling(word));
}

bool begins_as_number(std::string_view word)
{
    if (is_number(word)) {
        return true;
    }
    for (const std::string_view sign : {"-", "+", "\u2212", "\u2013"}) { // a minus and a dash of word processors, too
        word.remove_prefix(word.starts_with(sign) ? sign.size() : 0);
    }
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_letter = [&](char c) {
        return (lower(c) >= 'a' && lower(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    };
    std::string name(word.substr(0, 9));
    std::ranges::transform(name, name.begin(), lower);
    const auto* const first = std::ranges::find_if(word, [&](char c) { return is_digit(c) || is_letter(c); });
    return name == "inf" || name == "infinity" || name == "nan" || (first != word.end() && is_digit(*first));
}

std::string_view number_in_place_of(std::string_view word)
{
    if (!begins_as_number(word)) {
        return "a number";
    }
    double value = 0;
    const std::string_view number = math::usual_spelling(word);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error == std::errc::result_out_of_range && end == number.data() + number.size()) {
        return "a number that float64 can hold";
    }
    if (const std::size_t last = word.find_last_not_of(") ");
        last != std::string_view::npos && (word[last] == 'j' || word[last] == 'i')) {
        return "a real number; give real and imaginary parts as an array each";
    }
    return word.find(',') == std::string_view::npos ? "a number, such as 0.5 or 1.5e-3" : "a number, with a decimal point";
}

std::optional<Shape> shape_in(std::string_view text)
{
    const bool brackets = (text.starts_with('(') && text.ends_with(')')) || (text.starts_with('[') && text.ends_with(']'));
    if (!brackets) {
        return std::nullopt;
    }
    Shape shape;
    text = text.substr(1, text.size() - 2);
    while (!trimmed(text).empty() && shape.size() < most_text_dimensions) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view number = trimmed(text.substr(0, end));
        Index length = 0;
        const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), length);
        if (error != std::errc{} || stop != number.data() + number.size() || length < 0) {
            return std::nullopt;
        }
        shape.push_back(length);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return trimmed(text).empty() ? std::optional(shape) : std::nullopt;
}

std::optional<TextField> next_field(const TextLine& line, std::optional<char> separator, std::size_t& at)
{
    const std::string_view text = line.text;
    if (!separator) {
        at = std::min(text.find_first_not_of(blank_space, at), text.size());
        const std::size_t begin = at;
        at = std::min(text.find_first_of(blank_space, at), text.size());
        return at == begin ? std::nullopt : std::optional(TextField{line.begin + begin, text.substr(begin, at - begin)});
    }
    if (at > text.size()) {
        return std::nullopt;
    }
    constexpr std::string_view blanks = " \t\v\f";
    std::size_t begin = at;
    while (begin < text.size() && blanks.find(text[begin]) != std::string_view::npos && text[begin] != *separator) {
        ++begin;
    }
    std::size_t end = begin;
    if (begin < text.size() && text[begin] == '"') { // two of them inside stand for one
        do {
            end = std::min(text.find('"', end + 1), text.size());
            end += end < text.size() ? 1 : 0;
        } while (end < text.size() && text[end] == '"');
    }
    end = std::min(text.find(*separator, end), text.size());
    at = end + 1;
    return TextField{line.begin + begin, trimmed(text.substr(begin, end - begin))};
}

std::string unquoted(std::string_view field)
{
    if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"')) {
        return std::string(field);
    }
    std::string word;
    for (std::size_t i = 1; i + 1 < field.size(); ++i) {
        word += field[i];
        i += field[i] == '"' ? 1 : 0;
    }
    return word;
}

std::string_view trimmed(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(blank_space), text.size()));
    return text.substr(0, text.find_last_not_of(blank_space) + 1);
}

// ---- any form --------------------------------------------------------------------------------------------------------------

namespace {

struct TextForm {
    bool (*begins)(std::string_view text);
    std::vector<ArrayText> (*read)(std::string_view text, const std::string& what);
};

/// What is told by more stands before what is told by less.
constexpr std::array forms{
    TextForm{begins_long_csv, read_long_csv},
    TextForm{begins_tables, read_tables},
    TextForm{begins_printed_arrays, read_printed_arrays},
    TextForm{begins_rows, [](std::string_view text, const std::string& what) { return std::vector{read_rows(text, what)}; }},
};

const TextForm* form_of(std::string_view text)
{
    // A line may have no end, and a file be larger than the memory that its pages may take.
    constexpr std::size_t enough = std::size_t{16} << 20U;
    const std::string_view front = text.substr(0, enough);
    const auto* const form = std::ranges::find_if(forms, [&](const TextForm& each) { return each.begins(front); });
    return may_begin_text(text) && form != forms.end() ? form : nullptr;
}

bool is_control(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v') || byte == 0x7F;
}

} // namespace

bool may_begin_text(std::string_view front)
{
    constexpr std::size_t enough = 4096;
    constexpr std::ptrdiff_t lines_without_numbers = 16;
    front = front.substr(0, enough);
    if (std::ranges::any_of(front, is_control)) {
        return false;
    }
    // A text without end, such as that of `yes`, must not be read in vain.
    const bool numbers = front.find_first_of("0123456789[{") != std::string_view::npos;
    return numbers || std::max(std::ranges::count(front, '\n'), std::ranges::count(front, '\r')) < lines_without_numbers;
}

bool is_text_of_arrays(std::string_view text)
{
    return form_of(text) != nullptr;
}

std::vector<ArrayText> read_text_arrays(std::string_view text, const std::string& what)
{
    const TextForm* form = form_of(text);
    if (form == nullptr) {
        throw Error(ErrorKind::data, what, "a text that begins with " + in_quotes(text.substr(0, 9)), text_forms);
    }
    std::vector<ArrayText> arrays = form->read(text, what);
    if (arrays.empty()) {
        throw Error(ErrorKind::data, what, "no array of numbers", "at least one");
    }
    std::unordered_set<std::string_view> names;
    for (const ArrayText& array : arrays) {
        if (!names.insert(array.name).second) {
            throw Error(ErrorKind::data, what, "two arrays with the name " + in_quotes(array.name, 40), "one of a name");
        }
    }
    return arrays;
}

} // namespace attn::io
