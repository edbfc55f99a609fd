// Writes JSON piece by piece, without spaces and without ever holding more than a buffer of it.
#pragma once

#include "attn/tensor/buffer.hpp"
#include "attn/tensor/tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace attn::report {

/// The caller sees to it that objects and arrays are opened and closed in order; commas come by themselves.
class JsonWriter {
public:
    /// The buffer must outlive the writer.
    explicit JsonWriter(Buffer& buffer) : buffer_(buffer) {}

    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void begin_object(std::string_view name);
    void begin_array(std::string_view name);
    void end_array() { close(']'); }

    /// The name of the next value.
    void key(std::string_view name);

    void string(std::string_view text);
    void integer(std::int64_t value);
    void unsigned_integer(std::uint64_t value);
    void boolean(bool value);
    void null();
    /// The shortest decimal; infinities and NaN as the strings "inf", "-inf", "nan".
    void number(double value);
    void number(float value);
    /// A value that is JSON already, or its beginning, after which the caller goes on with `more` and `string_more`.
    void raw(std::string_view json);
    void more(std::string_view json) { buffer_.append(json); }
    void string_more(std::string_view text);

    /// A name and a text, number, truth or list of texts or numbers.
    template <typename Value>
    void member(std::string_view name, const Value& value);
    /// Nothing where there is no value.
    template <typename Value>
    void member(std::string_view name, const std::optional<Value>& value)
    {
        if (value) {
            member(name, *value);
        }
    }
    void error(int code, std::string_view message); ///< "error":{"code":65,"message":"…"}, the code that of an exit
    /// A name and a list, of which `write(element)` writes each element.
    template <typename Range, typename Write>
    void array(std::string_view name, const Range& range, Write write)
    {
        begin_array(name);
        std::ranges::for_each(range, write);
        end_array();
    }
    /// The same of objects, of which `write(element)` writes the members of each.
    template <typename Range, typename Write>
    void objects(std::string_view name, const Range& range, Write write)
    {
        array(name, range, [&](const auto& element) {
            begin_object();
            write(element);
            end_object();
        });
    }
    void strings(const std::vector<std::string>& texts);
    void integers(const std::vector<Index>& values);

    /// One array of numbers; `masked` writes null for -inf. Scalar is float or double.
    template <typename Scalar>
    void numbers(std::span<const Scalar> values, bool masked = false);
    /// Nested arrays, one level a dimension; `masked` writes null for -inf.
    void tensor(const AnyTensor& tensor, bool masked = false);

    void newline() { buffer_.append("\n"); }

private:
    void open(char bracket);
    void close(char bracket);
    void separate();

    Buffer& buffer_;
    bool first_ = true; ///< nothing stands yet in the innermost object or array
};

template <typename Value>
void JsonWriter::member(std::string_view name, const Value& value)
{
    key(name);
    if constexpr (std::is_same_v<Value, bool>) {
        boolean(value);
    } else if constexpr (std::is_integral_v<Value>) {
        integer(value);
    } else if constexpr (std::is_floating_point_v<Value>) {
        number(value);
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        string(value);
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
        strings(value);
    } else if constexpr (std::is_floating_point_v<typename Value::value_type>) {
        numbers(std::span<const typename Value::value_type>(value));
    } else {
        integers(value);
    }
}

/// An object on a line of its own; `write(json)` writes its members.
template <typename Write>
void write_json_line(Buffer& buffer, Write write)
{
    JsonWriter json(buffer);
    json.begin_object();
    write(json);
    json.end_object();
    json.newline();
}

} // namespace attn::report
