#include "attn/report/json_writer.hpp"

#include "attn/math/decimal.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

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

/// What JSON requires (RFC 8259, section 7), and also DEL, the C1 controls and the line separators U+2028 and U+2029, so that
/// no byte of a result can steer a terminal or break a line of JavaScript. All of these are short UTF-8 sequences that can be
/// told from their bytes.
void append_quoted(std::string& out, std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    out += '"';
    for (std::size_t i = 0; i < text.size(); ++i) {
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
            i += 1;
        } else if (c == 0xE2 && byte(i + 1) == 0x80 && (byte(i + 2) == 0xA8 || byte(i + 2) == 0xA9)) {
            append_unicode_escape(out, 0x2000U | (byte(i + 2) & 0x3FU));
            i += 2;
        } else {
            out += text[i];
        }
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

template <typename Scalar>
void append_number(std::string& out, Scalar value)
{
    if (std::isfinite(value)) {
        math::append_shortest(out, value);
        return;
    }
    out += '"';
    math::append_shortest(out, value);
    out += '"';
}

template <typename Scalar>
void append_score(Buffer& buffer, Scalar value, bool masked)
{
    if (masked && value == -std::numeric_limits<Scalar>::infinity()) {
        buffer.text() += "null";
    } else {
        append_number(buffer.text(), value);
    }
    buffer.settle();
}

/// The part of `tensor` below one place of its first `level` dimensions; `next` walks through the values.
template <typename Scalar>
void append_nested(Buffer& buffer, const Tensor<Scalar>& tensor, std::size_t level, const Scalar*& next, bool masked)
{
    std::string& out = buffer.text();
    if (level == tensor.shape.size()) {
        append_score(buffer, *next++, masked);
        return;
    }
    out += '[';
    for (Index i = 0; i < tensor.shape[level]; ++i) {
        if (i != 0) {
            out += ',';
        }
        append_nested(buffer, tensor, level + 1, next, masked);
    }
    out += ']';
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
    append_number(buffer_.text(), value);
    buffer_.settle();
}

void JsonWriter::raw(std::string_view json)
{
    separate();
    buffer_.append(json);
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
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i != 0) {
            buffer_.text() += ',';
        }
        append_score(buffer_, values[i], masked);
    }
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
