#include "attn/report/json_writer.hpp"

#include "attn/math/decimal.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace attn::report {
namespace {

void append_unicode_escape(std::string& out, unsigned code)
{
    static constexpr std::string_view hex = "0123456789abcdef";
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) {
        out += hex[(code >> shift) & 15U];
    }
}

/// Bytes that `append_quoted` has to look at: those below 0x20, '"', '\\', DEL, and what the sequences of C1 controls, U+2028
/// and U+2029 begin with.
constexpr auto make_special()
{
    std::array<bool, 256> special{};
    for (std::size_t c = 0; c < 0x20; ++c) {
        special[c] = true;
    }
    for (const std::size_t c : {0x22U, 0x5CU, 0x7FU, 0xC2U, 0xE2U}) {
        special[c] = true;
    }
    return special;
}

constexpr auto special = make_special();

/// The special byte at `i`, escaped if need be, and how many bytes of the text that takes care of.
std::size_t append_special(std::string& out, std::string_view text, std::size_t i)
{
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const unsigned c = byte(i);
    if (c == '"' || c == '\\') {
        out += '\\';
        out += text[i];
    } else if (c == '\n') {
        out += "\\n";
    } else if (c == '\t') {
        out += "\\t";
    } else if (c == '\r') {
        out += "\\r";
    } else if (c < 0x20 || c == 0x7F) {
        append_unicode_escape(out, c);
    } else if (c == 0xC2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xA0) {
        append_unicode_escape(out, byte(i + 1));
        return 2;
    } else if (c == 0xE2 && byte(i + 1) == 0x80 && (byte(i + 2) == 0xA8 || byte(i + 2) == 0xA9)) {
        append_unicode_escape(out, 0x2000U | (byte(i + 2) & 0x3FU));
        return 3;
    } else {
        out += text[i];
    }
    return 1;
}

/// What JSON requires (RFC 8259, section 7), and also DEL, the C1 controls and the line separators U+2028 and U+2029, so that
/// no byte of a result can steer a terminal or break a line of JavaScript. All of these are short UTF-8 sequences that can be
/// told from their bytes.
void append_quoted(std::string& out, std::string_view text)
{
    out += '"';
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && !special[static_cast<unsigned char>(text[end])]) {
            ++end;
        }
        out.append(text, i, end - i);
        i = end < text.size() ? end + append_special(out, text, end) : end;
    }
    out += '"';
}

/// `masked`: null for -inf.
template <typename Scalar>
void append_number(std::string& out, Scalar value, bool masked)
{
    if (std::isfinite(value)) {
        math::append_shortest(out, value);
    } else if (masked && value < 0) {
        out += "null";
    } else {
        out += '"';
        math::append_shortest(out, value);
        out += '"';
    }
}

/// With commas between them.
template <typename Scalar>
void append_row(Buffer& buffer, std::span<const Scalar> values, bool masked)
{
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i != 0) {
            buffer.text() += ',';
        }
        append_number(buffer.text(), values[i], masked);
        buffer.settle();
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
    buffer_.text() += std::to_string(value);
    buffer_.settle();
}

void JsonWriter::unsigned_integer(std::uint64_t value)
{
    separate();
    buffer_.text() += std::to_string(value);
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

void JsonWriter::begin_object(std::string_view name)
{
    key(name);
    begin_object();
}

void JsonWriter::begin_array(std::string_view name)
{
    key(name);
    begin_array();
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
