// JSON as the readers of this room want it: strict, with every number as it stands in the text.
//
// Malformed text, repeated keys, NUL and deep nesting are refused while reading, with line and column. After that each reader
// asks for what it expects; whatever is otherwise is refused with its place ("draws[2].shape"), the value and what is allowed.
// A document takes 12 bytes for each value of the text, plus its strings.
#pragma once

#include "attn/tensor/error.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/text_list.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::io {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

class JsonValue;

/// A text, read. The values handed out stay valid as long as the document and the text do.
class JsonDocument {
public:
    /// Throws Error(data): not JSON (RFC 8259), a number beyond float64, a NUL byte, a repeated key, more than 32 levels;
    /// Error(too_large): a text of 4 GiB and more. `what`, when not empty, names the text in the message.
    explicit JsonDocument(std::string_view text, std::string_view what = {});

    [[nodiscard]] JsonValue root() const;

    /// One value; the values inside an array or object follow it, in order, each key before its value.
    struct Node {
        std::uint32_t first = 0;  ///< number: its place in the text; string: in `strings_`; array, object: how many children
        std::uint32_t extent = 0; ///< number, string: bytes; array, object: the index behind the last node inside
        JsonKind kind = JsonKind::null;
        bool truth = false; ///< of a boolean
    };

private:
    friend class JsonValue;
    std::string_view text_;
    std::vector<Node> nodes_;
    std::string strings_;
};

/// One value of a document, and its place in words.
class JsonValue {
public:
    JsonValue(const JsonDocument& document, std::size_t node, std::string place)
        : document_(&document), node_(node), place_(std::move(place))
    {
    }

    [[nodiscard]] JsonKind kind() const { return node().kind; }
    [[nodiscard]] const std::string& place() const { return place_; }

    [[nodiscard]] std::size_t size() const; ///< elements of an array, members of an object; 0 of anything else

    /// Each of these throws Error(data) when the value is of another kind or out of range.
    [[nodiscard]] bool boolean() const;
    [[nodiscard]] std::string string() const;
    [[nodiscard]] Index
    integer(Index least, Index most,
            std::string_view also = "") const; ///< digits alone: 3.0 and 3e0 are refused; `also`: what else a message allows
    [[nodiscard]] std::uint64_t unsigned_integer() const;        ///< 0 … 2^64-1, exactly
    [[nodiscard]] double number(std::string_view allowed) const; ///< finite
    [[nodiscard]] std::vector<JsonValue> elements() const;       ///< of an array
    [[nodiscard]] std::vector<std::string> strings() const;      ///< of an array of strings
    using Member = std::pair<std::string, JsonValue>;
    [[nodiscard]] std::vector<Member> members() const; ///< of an object
    /// The one of `names` that the string is, as an index. Where some have aliases, an error says
    /// which one was probably meant.
    [[nodiscard]] std::size_t one_of(std::span<const std::string_view> names, std::span<const Alias> aliases = {}) const;
    [[nodiscard]] std::size_t one_of(std::initializer_list<std::string_view> names) const
    {
        return one_of(std::span(names.begin(), names.size()));
    }

    /// Throws Error(data): place, the value, what is allowed.
    [[noreturn]] void refuse(std::string_view allowed) const;

    /// A number's text, or what a string says.
    [[nodiscard]] std::string_view text() const;

    /// Turns a value that is not an array into text, or gives nothing to refuse it.
    using Leaf = std::function<std::optional<std::string_view>(JsonKind kind, std::string_view text)>;
    /// Nested arrays. Throws Error(data) when they are ragged or a leaf is refused.
    [[nodiscard]] TextArray nested(const Leaf& leaf, std::string_view allowed) const;

private:
    /// refuse(), for a value of another kind: says of a string that it is one.
    [[noreturn]] void refuse_kind(std::string_view allowed) const;
    [[nodiscard]] const JsonDocument::Node& node() const { return document_->nodes_[node_]; }
    [[nodiscard]] std::size_t behind(std::size_t node) const;
    void flatten(std::size_t node, std::size_t depth, std::vector<Index>& at, TextArray& out, const Leaf& leaf,
                 std::string_view allowed) const;

    const JsonDocument* document_;
    std::size_t node_;
    std::string place_;
};

/// An object of which every key is known.
class JsonObject {
public:
    /// Throws Error(data) when `value` is no object or has a key that is not in `known`; of one of `aliases` it says which key
    /// was probably meant.
    JsonObject(const JsonValue& value, std::initializer_list<std::string_view> known)
        : JsonObject(value, std::span(known.begin(), known.size()))
    {
    }
    JsonObject(const JsonValue& value, std::span<const std::string_view> known, std::span<const Alias> aliases = {});

    [[nodiscard]] const JsonValue* find(std::string_view key) const; ///< nullptr when absent
    [[nodiscard]] const JsonValue& at(std::string_view key) const;   ///< throws Error(data) when absent
    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    [[nodiscard]] const JsonValue& value() const { return value_; }

private:
    JsonValue value_;
    std::vector<JsonValue::Member> members_;
};

/// The text of a number, or of one of the strings "inf", "-inf" and "nan", which stand for what JSON cannot write.
[[nodiscard]] std::optional<std::string_view> decimal(JsonKind kind, std::string_view text);

/// "a.b", or a['b c'] for a key that is not a plain name: what errors call a member of the object at `place`.
[[nodiscard]] std::string member_place(const std::string& place, std::string_view key);

/// The string that an object gives for key::schema, read no further than needed. Nothing when there is none. Throws Error(data)
/// when the text is no JSON object.
[[nodiscard]] std::optional<std::string> schema_of(std::string_view text);

/// Throws as JsonDocument for malformed JSON, with its place in a file of which `text` begins in this line.
void require_json(std::string_view text, Index first_line);

} // namespace attn::io
