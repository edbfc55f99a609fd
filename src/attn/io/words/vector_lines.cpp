#include "attn/io/words/vector_lines.hpp"

#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace attn::io {
namespace {

constexpr std::size_t stride = std::size_t{4} << 20U; ///< between two reports of where the walk is
constexpr std::size_t longest_line = std::size_t{64} << 20U;

/// Lanes of bytes, which compilers turn into vector instructions, and which hold 255 at most.
Index count_spaces(std::string_view text)
{
    constexpr std::size_t width = 16;
    constexpr std::size_t most = 255;
    Index total = 0;
    while (text.size() >= width) {
        const std::size_t blocks = std::min(text.size() / width, most);
        std::array<unsigned char, width> lanes{};
        const char* at = text.data();
        for (std::size_t block = 0; block < blocks; ++block, at += width) {
            for (std::size_t i = 0; i < width; ++i) {
                lanes[i] = static_cast<unsigned char>(lanes[i] + (at[i] == ' ' ? 1 : 0));
            }
        }
        for (const unsigned char lane : lanes) {
            total += lane;
        }
        text.remove_prefix(blocks * width);
    }
    return total + std::count(text.begin(), text.end(), ' ');
}

std::string_view without_end(std::string_view line)
{
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    if (line.ends_with(' ')) {
        line.remove_suffix(1);
    }
    return line;
}

/// The first field, which is taken off `fields`.
std::string_view next_field(std::string_view& fields)
{
    const std::size_t end = fields.find(' ');
    const std::string_view field = fields.substr(0, end);
    fields.remove_prefix(end == std::string_view::npos ? fields.size() : end + 1);
    return field;
}

/// What a field that is no number should be.
std::string wanted_instead_of(std::string_view field)
{
    std::string number = "a decimal number";
    if (field.empty() || field.find_first_of(",\t") != std::string_view::npos) {
        return number + "; a word and its numbers are separated by one space";
    }
    return number;
}

/// Of a decimal number that is not 0 and beyond the range of float64: whether it is too near to 0, and not too far from it.
bool is_tiny(std::string_view number)
{
    const std::size_t end = std::min(number.find_first_of("eE"), number.size());
    const std::string_view digits = number.substr(0, end);
    const auto point = static_cast<Index>(std::min(digits.find('.'), digits.size()));
    const auto first = static_cast<Index>(digits.find_first_of("123456789"));
    std::string_view power = number.substr(std::min(end + 1, number.size()));
    power.remove_prefix(power.starts_with('+') ? 1 : 0);
    std::int32_t exponent = 0;
    if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec == std::errc::result_out_of_range) {
        return power.starts_with('-');
    }
    return exponent + point - first <= 0;
}

struct Number {
    double value = 0;
    bool too_large = false; ///< for float64
};

/// Locales do not change it. Nothing for what is no number.
std::optional<Number> number_of(std::string_view field)
{
    double value = 0;
    const char* behind = field.data() + field.size();
    const auto [end, error] = std::from_chars(field.data(), behind, value);
    if (end != behind || error == std::errc::invalid_argument) {
        return std::nullopt;
    }
    if (error == std::errc()) {
        return Number{.value = value};
    }
    return is_tiny(field) ? Number{.value = field.starts_with('-') ? -0.0 : 0.0} : Number{.too_large = true};
}

/// What a field that cannot be taken should be.
std::string wanted_instead_of(std::string_view field, const std::optional<Number>& number)
{
    if (!number) {
        return wanted_instead_of(field);
    }
    return number->too_large ? "numbers up to 1.797e308" : "finite numbers, or any with --set embeddings.allow_nonfinite=true";
}

} // namespace

std::string place_of(const std::string& name, Index line)
{
    return fmt::format("{}, line {}", name, line);
}

VectorLines::VectorLines(const TextFile& file, std::size_t offset, Index number, std::function<void(std::size_t)> passed)
    : file_(file), passed_(std::move(passed)), offset_(offset), told_(offset), number_(number)
{
}

std::optional<VectorLine> VectorLines::next()
{
    if (offset_ >= file_.text.size()) {
        return std::nullopt;
    }
    if (passed_ && offset_ - told_ >= stride) {
        passed_(offset_);
        told_ = offset_;
    }
    const std::string_view rest = file_.text.substr(offset_, longest_line + 1);
    const void* end = std::memchr(rest.data(), '\n', rest.size());
    const std::size_t length =
        end == nullptr ? rest.size() : static_cast<std::size_t>(static_cast<const char*>(end) - rest.data());
    if (length > longest_line) {
        throw Error(ErrorKind::data, place_of(file_.name, number_), fmt::format("more than {} bytes", longest_line),
                    fmt::format("a word and up to {} numbers", model::largest_vector));
    }
    VectorLine line{.number = number_, .offset = offset_, .text = without_end(rest.substr(0, length))};
    line.spaces = count_spaces(line.text);
    offset_ += length + 1;
    ++number_;
    return line;
}

void require_word(const std::string& name, const VectorLine& line, std::string_view word)
{
    for (std::string_view rest = word; !rest.empty();) {
        if (static_cast<unsigned char>(rest.front() - 1) < 0x7F) {
            rest.remove_prefix(1);
            continue;
        }
        const CodePoint point = front(rest);
        if (!point.well_formed || point.value == 0) {
            throw Error(ErrorKind::data, fmt::format("{}, byte {}", place_of(name, line.number), rest.data() - word.data()),
                        in_quotes(rest.substr(0, 1)), "words in UTF-8 (is it a binary file?)");
        }
        rest.remove_prefix(point.bytes);
    }
}

Error other_count(const VectorText& text, const VectorLine& line)
{
    return {ErrorKind::data, place_of(text.file.name, line.number),
            line.text.empty() ? "nothing" : "a word and " + counted(line.spaces, "number"),
            fmt::format("a word and {}, as {}", counted(text.dim, "number"),
                        text.count ? "the header says" : "most of the first lines have")};
}

std::string_view lone_word(const VectorText& text, const VectorLine& line)
{
    const std::size_t space = line.text.find(' ');
    const bool longer = line.spaces > text.dim && space != std::string_view::npos;
    return longer && are_numbers(line.text.substr(space + 1)) ? line.text.substr(0, space) : std::string_view();
}

VectorEntry entry_of(const VectorText& text, const VectorLine& line)
{
    const Index extra = line.spaces - text.dim;
    if (extra < 0) {
        throw other_count(text, line);
    }
    std::size_t end = line.text.find(' ');
    for (Index i = 0; i < extra; ++i) {
        end = line.text.find(' ', end + 1);
    }
    const VectorEntry entry{.word = line.text.substr(0, end), .numbers = line.text.substr(end + 1)};
    require_word(text.file.name, line, entry.word);
    return entry;
}

void read_numbers(const std::string& name, const VectorLine& line, std::string_view numbers, bool allow_nonfinite,
                  std::span<double> row)
{
    for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string_view field = next_field(numbers);
        const std::optional<Number> number = number_of(field);
        if (!number || number->too_large || !(allow_nonfinite || std::isfinite(number->value))) {
            throw Error(ErrorKind::data, fmt::format("{}, number {}", place_of(name, line.number), i + 1),
                        field.empty()                 ? "nothing between two spaces"
                        : number && number->too_large ? in_quotes(field) + ", which is beyond float64"
                                                      : in_quotes(field),
                        wanted_instead_of(field, number));
        }
        row[i] = number->value;
    }
}

bool are_numbers(std::string_view fields)
{
    while (!fields.empty()) {
        if (!number_of(next_field(fields))) {
            return false;
        }
    }
    return true;
}

} // namespace attn::io
