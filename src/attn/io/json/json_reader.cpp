#include "attn/io/json/json_reader.hpp"

#include "attn/io/json/json_scanner.hpp"
#include "attn/math/decimal.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

namespace attn::io {
namespace {

using Node = JsonDocument::Node;

/// Offsets and counts stay below the length of the text, which JsonDocument checks.
std::uint32_t narrow(std::size_t number)
{
    return static_cast<std::uint32_t>(number);
}

using Json = nlohmann::json;

/// Walks over the text and tells how far the parser has come, because the parser keeps the text of integers to itself.
class Walk {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Walk(const char* at, const char** reached) : at_(at), reached_(reached) {}
    reference operator*() const { return *at_; }
    Walk& operator++()
    {
        *reached_ = ++at_;
        return *this;
    }
    bool operator==(const Walk& other) const { return at_ == other.at_; }

private:
    const char* at_;
    const char** reached_;
};

/// Lays the values of a text down one after the other: a function for each event of the parser (nlohmann's SAX interface). One
/// that says false ends the walk.
class Builder {
public:
    /// `scanner` says what is wrong.
    Builder(std::string_view text, const JsonScanner& scanner, std::vector<Node>& nodes, std::string& strings)
        : text_(text), scanner_(scanner), nodes_(nodes), strings_(strings), reached_(text.data())
    {
    }

    /// Whether all of it is JSON.
    bool build() { return Json::sax_parse(Walk(text_.data(), &reached_), Walk(text_.data() + text_.size(), &reached_), this); }

    bool null() { return add({0, 0, JsonKind::null}); }
    bool boolean(bool value) { return add({0, 0, JsonKind::boolean, value}); }
    bool number_integer(Json::number_integer_t) { return number(); }
    bool number_unsigned(Json::number_unsigned_t) { return number(); }
    bool number_float(Json::number_float_t, const std::string&) { return number(); }
    bool string(std::string& value) { return add(stored(value)); }
    bool key(std::string& value)
    {
        nodes_.push_back(stored(value)); // not counted: a member is one child
        return true;
    }
    bool start_object(std::size_t) { return open(JsonKind::object); }
    bool start_array(std::size_t) { return open(JsonKind::array); }
    bool end_object()
    {
        refuse_repeated_keys();
        return end_array();
    }
    bool end_array()
    {
        nodes_[open_.back()].extent = narrow(nodes_.size());
        open_.pop_back();
        return true;
    }
    static bool binary(Json::binary_t&) { return false; }
    static bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

private:
    bool add(Node node)
    {
        if (!open_.empty()) {
            ++nodes_[open_.back()].first;
        }
        nodes_.push_back(node);
        return true;
    }
    Node stored(const std::string& value)
    {
        if (value.find('\0') != std::string::npos) {
            scanner_.fail("NUL character in a string", here() - 1);
        }
        const std::size_t begin = strings_.size();
        strings_ += value;
        return {narrow(begin), narrow(value.size()), JsonKind::string};
    }
    /// The parser has read the number and, unless the text ended, one character more.
    bool number()
    {
        const auto belongs = [](char c) {
            return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
        };
        std::size_t end = here();
        if (!belongs(text_[end - 1])) {
            --end;
        }
        std::size_t begin = end;
        while (begin > 0 && belongs(text_[begin - 1])) {
            --begin;
        }
        return add({narrow(begin), narrow(end - begin), JsonKind::number});
    }
    bool open(JsonKind kind)
    {
        add({0, 0, kind});
        open_.push_back(nodes_.size() - 1);
        return open_.size() <= deepest_json;
    }
    [[nodiscard]] std::size_t here() const { return static_cast<std::size_t>(reached_ - text_.data()); }
    void refuse_repeated_keys()
    {
        std::vector<std::string_view> keys;
        for (std::size_t node = open_.back() + 1; node < nodes_.size();) {
            keys.push_back(std::string_view(strings_).substr(nodes_[node].first, nodes_[node].extent));
            const Node& value = nodes_[node + 1];
            node = value.kind == JsonKind::array || value.kind == JsonKind::object ? value.extent : node + 2;
        }
        std::sort(keys.begin(), keys.end());
        const auto twice = std::adjacent_find(keys.begin(), keys.end());
        if (twice != keys.end()) {
            scanner_.fail(fmt::format("key {} given twice in the object that ends here", in_quotes(*twice)), here() - 1);
        }
    }

    std::string_view text_;
    const JsonScanner& scanner_;
    std::vector<Node>& nodes_;
    std::string& strings_;
    std::vector<std::size_t> open_;
    const char* reached_;
};

} // namespace

JsonDocument::JsonDocument(std::string_view text, std::string_view what) : text_(text)
{
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorKind::too_large, "JSON", fmt::format("{} bytes", text.size()), "up to 4294967295");
    }
    JsonScanner scanner(text, what);
    if (!Builder(text, scanner, nodes_, strings_).build()) {
        (void)scanner.skip(); // says what is malformed, and where
        scanner.end();
    }
}

JsonValue JsonDocument::root() const
{
    return {*this, 0, ""};
}

std::optional<std::string> schema_of(std::string_view text)
{
    JsonScanner scanner(text);
    if (scanner.next() != '{') {
        if (scanner.next() != '[') {
            (void)scanner.skip();
        }
        throw Error(ErrorKind::data, "JSON", "a value of another type", "an object");
    }
    std::optional<std::string> schema;
    bool found = false;
    scanner.object([&](std::string_view key) {
        found = key == model::key::schema;
        if (found && scanner.next() == '"') {
            schema = scanner.string();
        } else if (!found || (scanner.next() != '{' && scanner.next() != '[')) {
            (void)scanner.skip();
        }
        return !found;
    });
    if (!found) {
        scanner.end();
    }
    return schema;
}

namespace {

bool is_container(JsonKind kind)
{
    return kind == JsonKind::array || kind == JsonKind::object;
}

std::string name_of(const std::string& place)
{
    return place.empty() ? "JSON" : place;
}

std::string element_place(const std::string& place, std::size_t index)
{
    return place + "[" + std::to_string(index) + "]";
}

/// What a value says, if it is a number that Number holds.
template <typename Number>
std::optional<Number> read_number(const JsonValue& value)
{
    const std::string_view text = value.kind() == JsonKind::number ? value.text() : std::string_view();
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

} // namespace

std::string member_place(const std::string& place, std::string_view key)
{
    const bool plain = !key.empty() && key.size() <= 40 && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (!plain) {
        return place + "[" + in_quotes(key) + "]";
    }
    return place.empty() ? std::string(key) : place + "." + std::string(key);
}

std::string_view JsonValue::text() const
{
    const std::string_view source = kind() == JsonKind::string ? std::string_view(document_->strings_) : document_->text_;
    return source.substr(node().first, node().extent);
}

void JsonValue::refuse(std::string_view allowed) const
{
    std::string shown;
    switch (kind()) {
    case JsonKind::null: shown = "null"; break;
    case JsonKind::boolean: shown = node().truth ? "true" : "false"; break;
    case JsonKind::number: shown = text().substr(0, 40); break;
    case JsonKind::string: shown = in_quotes(text()); break;
    case JsonKind::array: shown = "an array of " + counted(node().first, "element"); break;
    case JsonKind::object: shown = "an object of " + counted(node().first, "member"); break;
    }
    throw Error(ErrorKind::data, name_of(place_), shown, allowed);
}

void JsonValue::refuse_kind(std::string_view allowed) const
{
    if (kind() == JsonKind::string) {
        throw Error(ErrorKind::data, name_of(place_), "the string " + in_quotes(text()), allowed);
    }
    refuse(allowed);
}

std::size_t JsonValue::size() const
{
    return is_container(kind()) ? node().first : 0;
}

bool JsonValue::boolean() const
{
    if (kind() != JsonKind::boolean) {
        refuse_kind("true or false");
    }
    return node().truth;
}

std::string JsonValue::string() const
{
    if (kind() != JsonKind::string) {
        refuse("a string");
    }
    return std::string(text());
}

Index JsonValue::integer(Index least, Index most, std::string_view also) const
{
    const auto value = read_number<Index>(*this);
    if (!value || *value < least || *value > most) {
        refuse_kind(fmt::format("an integer from {} to {}{}", least, most, also));
    }
    return *value;
}

std::uint64_t JsonValue::unsigned_integer() const
{
    const auto value = read_number<std::uint64_t>(*this);
    if (!value) {
        refuse_kind("an integer from 0 to 18446744073709551615");
    }
    return *value;
}

double JsonValue::number(std::string_view allowed) const
{
    const auto value = read_number<double>(*this);
    if (!value || !std::isfinite(*value)) {
        refuse_kind(allowed);
    }
    return *value;
}

std::size_t JsonValue::behind(std::size_t node) const
{
    const JsonDocument::Node& value = document_->nodes_[node];
    return is_container(value.kind) ? value.extent : node + 1;
}

std::vector<JsonValue> JsonValue::elements() const
{
    if (kind() != JsonKind::array) {
        refuse_kind("an array");
    }
    std::vector<JsonValue> all;
    all.reserve(size());
    for (std::size_t child = node_ + 1; child < node().extent; child = behind(child)) {
        all.emplace_back(*document_, child, element_place(place_, all.size()));
    }
    return all;
}

std::vector<std::string> JsonValue::strings() const
{
    if (kind() != JsonKind::array) {
        refuse_kind("an array of strings");
    }
    std::vector<std::string> all;
    for (const JsonValue& element : elements()) {
        all.push_back(element.string());
    }
    return all;
}

std::vector<JsonValue::Member> JsonValue::members() const
{
    if (kind() != JsonKind::object) {
        refuse_kind("an object");
    }
    std::vector<Member> all;
    all.reserve(size());
    for (std::size_t key = node_ + 1; key < node().extent; key = behind(key + 1)) {
        std::string name(JsonValue(*document_, key, "").text());
        std::string place = member_place(place_, name);
        all.emplace_back(std::move(name), JsonValue(*document_, key + 1, std::move(place)));
    }
    return all;
}

std::size_t JsonValue::one_of(std::span<const std::string_view> names, std::span<const Alias> aliases) const
{
    const auto found = kind() == JsonKind::string ? std::find(names.begin(), names.end(), text()) : names.end();
    if (found == names.end()) {
        const bool named = kind() == JsonKind::string && !aliases.empty();
        refuse(joined(names) + (named ? did_you_mean(text(), names, aliases) : ""));
    }
    return static_cast<std::size_t>(found - names.begin());
}

TextArray JsonValue::nested(const Leaf& leaf, std::string_view allowed) const
{
    TextArray out;
    // The first element of each level gives the shape; every other one is held against it.
    for (std::size_t node = node_; document_->nodes_[node].kind == JsonKind::array; ++node) {
        const JsonDocument::Node& array = document_->nodes_[node];
        out.shape.push_back(static_cast<Index>(array.first));
        if (array.first == 0) {
            break;
        }
    }
    // A hostile first row promises more than the text holds.
    double promised = 1;
    for (const Index length : out.shape) {
        promised *= static_cast<double>(length);
    }
    out.texts.reserve(promised <= static_cast<double>(document_->nodes_.size()) ? static_cast<std::size_t>(promised) : 0);
    std::vector<Index> at;
    flatten(node_, 0, at, out, leaf, allowed);
    return out;
}

void JsonValue::flatten(std::size_t node, std::size_t depth, std::vector<Index>& at, TextArray& out, const Leaf& leaf,
                        std::string_view allowed) const
{
    const auto here = [&] {
        std::string place = place_;
        for (const Index i : at) {
            place = element_place(place, static_cast<std::size_t>(i));
        }
        return JsonValue(*document_, node, place);
    };
    const JsonDocument::Node& value = document_->nodes_[node];
    if (depth < out.shape.size()) {
        if (value.kind != JsonKind::array || static_cast<Index>(value.first) != out.shape[depth]) {
            here().refuse(fmt::format("an array of {}, as before it", counted(out.shape[depth], "element")));
        }
        at.push_back(0);
        for (std::size_t child = node + 1; child < value.extent; child = behind(child)) {
            flatten(child, depth + 1, at, out, leaf, allowed);
            ++at.back();
        }
        at.pop_back();
        return;
    }
    const bool texts = value.kind == JsonKind::number || value.kind == JsonKind::string;
    const std::string_view truth = value.kind != JsonKind::boolean ? "" : value.truth ? "true" : "false";
    const auto text = leaf(value.kind, texts ? JsonValue(*document_, node, "").text() : truth);
    if (!text) {
        here().refuse(allowed);
    }
    out.texts.push_back(*text);
}

std::optional<std::string_view> decimal(JsonKind kind, std::string_view text)
{
    const bool special = kind == JsonKind::string && math::is_nonfinite_name(text);
    return kind == JsonKind::number || special ? std::optional(text) : std::nullopt;
}

JsonObject::JsonObject(const JsonValue& value, std::span<const std::string_view> known, std::span<const Alias> aliases)
    : value_(value), members_(value.members())
{
    for (const auto& [key, member] : members_) {
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            throw Error(ErrorKind::data, value.place().empty() ? "key" : value.place() + ": key", in_quotes(key),
                        joined(known) + did_you_mean(key, known, aliases));
        }
    }
}

const JsonValue* JsonObject::find(std::string_view key) const
{
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member.first == key; });
    return found == members_.end() ? nullptr : &found->second;
}

const JsonValue& JsonObject::at(std::string_view key) const
{
    const JsonValue* found = find(key);
    if (found == nullptr) {
        throw Error(ErrorKind::data, fmt::format("{}: key {} is missing", name_of(value_.place()), in_quotes(key)));
    }
    return *found;
}

void require_json(std::string_view text, Index first_line)
{
    std::string file(static_cast<std::size_t>(first_line - 1), '\n'); // what is counted of the lines before
    (void)JsonDocument(file.append(text));
}

} // namespace attn::io
