#include "attn/report/json_writer.hpp"

#include "attn/math/shortest.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/steering.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace attn::report {
namespace {

void append_unicode_escape(std::string& out, char32_t code)
{
    static constexpr std::string_view hex = "0123456789abcdef";
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) {
        out += hex[(code >> shift) & 15U];
    }
}

/// What `steers`, and marks of direction, which tables keep for the words of languages that need them.
bool is_escaped(char32_t c)
{
    return steers(c) || c == 0x061C || c == 0x200E || c == 0x200F;
}

/// Bytes that `append_quoted` has to look at: those below 0x20, '"', '\\', DEL, and what the sequences of other characters that
/// are escaped begin with.
constexpr auto make_special()
{
    std::array<bool, 256> special{};
    for (std::size_t c = 0; c < 0x20; ++c) {
        special[c] = true;
    }
    for (const std::size_t c : {0x22U, 0x5CU, 0x7FU, 0xC2U, 0xD8U, 0xE2U}) {
        special[c] = true;
    }
    return special;
}

constexpr auto special = make_special();

/// The character at the front of `text`, escaped if need be, and how many bytes it has.
std::size_t append_special(std::string& out, std::string_view text)
{
    switch (text.front()) {
    case '"': out += "\\\""; return 1;
    case '\\': out += "\\\\"; return 1;
    case '\n': out += "\\n"; return 1;
    case '\t': out += "\\t"; return 1;
    case '\r': out += "\\r"; return 1;
    default: break;
    }
    const std::string_view character = text.substr(0, utf8_length(text));
    if (character.empty()) { // no UTF-8
        out += text.front();
        return 1;
    }
    if (const char32_t code = code_point(character); is_escaped(code)) {
        append_unicode_escape(out, code);
    } else {
        out += character;
    }
    return character.size();
}

/// What JSON requires (RFC 8259, section 7), and also what `is_escaped`, so that no byte of a result can steer a terminal, turn
/// what follows or break a line of JavaScript.
void append_quoted(std::string& out, std::string_view text)
{
    out += '"';
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && !special[static_cast<unsigned char>(text[end])]) {
            ++end;
        }
        out.append(text, i, end - i);
        i = end < text.size() ? end + append_special(out, text.substr(end)) : end;
    }
    out += '"';
}

template <typename Integer>
void append_integer(std::string& out, Integer value)
{
    std::array<char, 24> digits{};
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

char* put(char* out, std::string_view text)
{
    return std::copy(text.begin(), text.end(), out);
}

/// At most `math::shortest_room` characters. `masked`: null for -inf.
template <typename Scalar>
char* write_number(char* out, Scalar value, bool masked)
{
    if (std::isfinite(value)) {
        return math::write_shortest(out, value);
    }
    if (std::isnan(value)) {
        return put(out, R"("nan")");
    }
    return put(out, value > 0 ? R"("inf")" : masked ? "null" : R"("-inf")");
}

/// Numbers with commas between them, written in place by the kilobyte: nothing is allocated and nothing copied for one alone.
template <typename Scalar>
void append_row(Buffer& buffer, std::span<const Scalar> values, bool masked)
{
    constexpr std::size_t most = 128;
    std::array<char, most*(math::longest_shortest + 1) + math::shortest_room> chunk; // NOLINT(*-member-init): written first
    for (bool first = true; !values.empty(); first = false) {
        const std::span<const Scalar> part = values.first(std::min(values.size(), most));
        values = values.subspan(part.size());
        char* end = chunk.data();
        if (!first) {
            *end++ = ',';
        }
        if (all_finite(part)) {
            end = math::write_shortest(end, part);
        } else {
            for (const Scalar value : part) {
                end = write_number(end, value, masked);
                *end++ = ',';
            }
            --end;
        }
        buffer.append({chunk.data(), static_cast<std::size_t>(end - chunk.data())});
    }
}

/// The part of `tensor` below one place of its first `level` dimensions; `next` walks through the values.
template <typename Scalar>
void append_nested(Buffer& buffer, const Tensor<Scalar>& tensor, std::size_t level, const Scalar*& next, bool masked)
{
    const bool is_row = level + 1 >= tensor.shape.size();
    const Index length = level < tensor.shape.size() ? tensor.shape[level] : 1;
    const bool brackets = level < tensor.shape.size(); // a single number has none
    if (brackets) {
        buffer.text() += '[';
    }
    if (is_row) {
        append_row(buffer, std::span<const Scalar>(next, static_cast<std::size_t>(length)), masked);
        next += length;
    } else {
        for (Index i = 0; i < length; ++i) {
            if (i != 0) {
                buffer.text() += ',';
            }
            append_nested(buffer, tensor, level + 1, next, masked);
        }
    }
    if (brackets) {
        buffer.text() += ']';
    }
}

} // namespace

void JsonWriter::separate()
{
    if (!first_) {
        buffer_.text() += ',';
    }
    first_ = false;
}

void JsonWriter::open(char bracket)
{
    separate();
    buffer_.text() += bracket;
    first_ = true;
}

void JsonWriter::close(char bracket)
{
    buffer_.text() += bracket;
    buffer_.settle();
    first_ = false;
}

void JsonWriter::key(std::string_view name)
{
    separate();
    append_quoted(buffer_.text(), name);
    buffer_.text() += ':';
    first_ = true;
}

void JsonWriter::string(std::string_view text)
{
    separate();
    append_quoted(buffer_.text(), text);
    buffer_.settle();
}

void JsonWriter::integer(std::int64_t value)
{
    separate();
    append_integer(buffer_.text(), value);
    buffer_.settle();
}

void JsonWriter::unsigned_integer(std::uint64_t value)
{
    separate();
    append_integer(buffer_.text(), value);
}

void JsonWriter::boolean(bool value)
{
    raw(value ? "true" : "false");
}

void JsonWriter::null()
{
    raw("null");
}

void JsonWriter::number(double value)
{
    separate();
    append_row(buffer_, std::span<const double>(&value, 1), false);
}

void JsonWriter::number(float value)
{
    separate();
    append_row(buffer_, std::span<const float>(&value, 1), false);
}

void JsonWriter::raw(std::string_view json)
{
    separate();
    buffer_.append(json);
}

void JsonWriter::string_more(std::string_view text)
{
    append_quoted(buffer_.text(), text);
    buffer_.settle();
}

void JsonWriter::member(std::string_view name, std::string_view text)
{
    key(name);
    string(text);
}

void JsonWriter::member(std::string_view name, double value)
{
    key(name);
    number(value);
}

void JsonWriter::member_unless(std::string_view name, double value, double usual)
{
    if (value != usual) {
        member(name, value);
    }
}

void JsonWriter::strings(const std::vector<std::string>& texts)
{
    begin_array();
    for (const std::string& text : texts) {
        string(text);
    }
    end_array();
}

void JsonWriter::integers(const std::vector<Index>& values)
{
    begin_array();
    for (const Index value : values) {
        integer(value);
    }
    end_array();
}

template <typename Scalar>
void JsonWriter::numbers(std::span<const Scalar> values, bool masked)
{
    open('[');
    append_row(buffer_, values, masked);
    close(']');
}

template void JsonWriter::numbers(std::span<const float>, bool);
template void JsonWriter::numbers(std::span<const double>, bool);

void JsonWriter::tensor(const AnyTensor& tensor, bool masked)
{
    separate();
    std::visit(
        [&](const auto& t) {
            const auto* next = t.values.data();
            append_nested(buffer_, t, 0, next, masked);
        },
        tensor);
}

} // namespace attn::report
