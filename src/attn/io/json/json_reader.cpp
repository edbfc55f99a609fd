#include "attn/io/json/json_reader.hpp"

#include "attn/io/json/json_scanner.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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

} // namespace attn::io
