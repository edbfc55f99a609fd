#include "attn/io/json/json_reader.hpp"

#include "attn/io/json/json_events.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/tensor/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace attn::io {
namespace {

using Node = JsonDocument::Node;

/// Offsets and counts stay below the length of the text, which JsonDocument checks.
std::uint32_t narrow(std::size_t number)
{
    return static_cast<std::uint32_t>(number);
}

/// Lays the values of a text down one after the other.
class Builder : public JsonEvents {
public:
    Builder(std::string_view source, std::string_view what, std::vector<Node>& nodes, std::string& strings)
        : JsonEvents(source, what), nodes_(nodes), strings_(strings)
    {
    }

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
        return close();
    }
    bool end_array() { return close(); }

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
            fail("NUL character in a string", here() - 1);
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
        if (!belongs(text()[end - 1])) {
            --end;
        }
        std::size_t begin = end;
        while (begin > 0 && belongs(text()[begin - 1])) {
            --begin;
        }
        return add({narrow(begin), narrow(end - begin), JsonKind::number});
    }
    bool open(JsonKind kind)
    {
        enter();
        add({0, 0, kind});
        open_.push_back(nodes_.size() - 1);
        return true;
    }
    bool close()
    {
        nodes_[open_.back()].extent = narrow(nodes_.size());
        open_.pop_back();
        return leave();
    }
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
            fail(fmt::format("key {} given twice in the object that ends here", in_quotes(*twice)), here() - 1);
        }
    }

    std::vector<Node>& nodes_;
    std::string& strings_;
    std::vector<std::size_t> open_;
};

/// Stops at the outermost key::schema.
class SchemaFinder : public JsonEvents {
public:
    using JsonEvents::JsonEvents;

    std::optional<std::string> schema;

    bool null() { return other(); }
    bool boolean(bool) { return other(); }
    bool number_integer(Json::number_integer_t) { return other(); }
    bool number_unsigned(Json::number_unsigned_t) { return other(); }
    bool number_float(Json::number_float_t, const std::string&) { return other(); }
    bool string(std::string& value)
    {
        if (found_) {
            schema = value;
        }
        return other();
    }
    bool key(std::string& value)
    {
        found_ = depth() == 1 && value == model::key::schema;
        return true;
    }
    bool start_object(std::size_t) { return (depth() == 0 || other()) && enter(); }
    bool start_array(std::size_t) { return other() && enter(); }

private:
    /// Goes on, unless this was the value looked for.
    bool other()
    {
        if (depth() == 0) {
            throw Error(ErrorKind::data, "JSON", "a value of another type", "an object");
        }
        return !found_;
    }
    bool found_ = false;
};

} // namespace

JsonDocument::JsonDocument(std::string_view text, std::string_view what) : text_(text)
{
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorKind::too_large, "JSON", fmt::format("{} bytes", text.size()), "up to 4294967295");
    }
    Builder builder(text, what, nodes_, strings_);
    builder.walk(builder);
}

JsonValue JsonDocument::root() const
{
    return {*this, 0, ""};
}

std::optional<std::string> schema_of(std::string_view text)
{
    SchemaFinder finder(text);
    finder.walk(finder);
    return finder.schema;
}

} // namespace attn::io
