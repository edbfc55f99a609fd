#include "attn/report/json_writer.hpp"

#include "attn/math/decimal.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/utf8.hpp"

#include <algorithm>
#include <cmath>

namespace attn::report {
namespace {

/// What `steers`, and marks of direction, which tables keep for the words of languages that need them.
bool is_escaped(std::int32_t c)
{
    return steers(c) || c == 0x061C || c == 0x200E || c == 0x200F;
}

/// Whether the byte stands for itself, whatever is beside it.
bool is_plain(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
}

/// What JSON requires (RFC 8259, section 7), and also what `is_escaped`, so that no byte of a result can steer a terminal, turn
/// what follows or break a line of JavaScript.
void append_quoted(std::string& out, std::string_view text)
{
    out += '"';
    while (!text.empty()) {
        const auto plain = static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) {
            break;
        }
        const CodePoint point = front(text);
        if (point.value == '"' || point.value == '\\') {
            out.append("\\").append(text, 0, 1);
        } else if (is_escaped(point.value) || !point.well_formed) { // of a file name; U+FFFD stands for it
            append_escape(out, point.value, "\\u", 4);
        } else {
            out += text.substr(0, point.bytes);
        }
        text.remove_prefix(point.bytes);
    }
    out += '"';
}

/// Of a number that is not finite; `masked`: null for -inf.
template <typename Scalar>
void append_nonfinite(std::string& out, Scalar value, bool masked)
{
    if (masked && value < 0) {
        out += "null";
        return;
    }
    out += '"';
    math::append_shortest(out, value);
    out += '"';
}

/// With commas between them.
template <typename Scalar>
void append_row(Buffer& buffer, std::span<const Scalar> values, bool masked)
{
    constexpr std::size_t most = 512; // before the buffer may be handed over
    for (bool first = true; !values.empty(); first = false) {
        std::string& out = buffer.text();
        if (!first) {
            out += ',';
        }
        const std::span<const Scalar> part = values.first(std::min(most, values.size()));
        const auto end = std::ranges::find_if_not(part, [](Scalar value) { return std::isfinite(value); });
        const auto finite = static_cast<std::size_t>(end - part.begin());
        if (finite == 0) {
            append_nonfinite(out, part.front(), masked);
        } else {
            math::append_shortest(out, part.first(finite));
        }
        buffer.settle();
        values = values.subspan(std::max<std::size_t>(finite, 1));
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

void JsonWriter::error(int code, std::string_view message)
{
    begin_object(model::key::error);
    member(model::key::code, code);
    member(model::key::message, message);
    end_object();
}

void JsonWriter::begin_array(std::string_view name)
{
    key(name);
    begin_array();
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
