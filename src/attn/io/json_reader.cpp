#include "attn/io/json_reader.hpp"

#include "attn/tensor/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace attn::io {
namespace {

using Json = nlohmann::json;
using Node = JsonDocument::Node;

constexpr std::size_t deepest = 32;

/// Walks over the text and tells how far the parser has come, because the parser keeps the text of integers to itself.
class Walk {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Walk() = default;
    Walk(const char* at, const char** reached) : at_(at), reached_(reached) {}
    reference operator*() const { return *at_; }
    Walk& operator++()
    {
        *reached_ = ++at_;
        return *this;
    }
    Walk operator++(int)
    {
        Walk before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Walk& other) const { return at_ == other.at_; }

private:
    const char* at_ = nullptr;
    const char** reached_ = nullptr;
};

/// Offsets and counts stay below the length of the text, which JsonDocument checks.
std::uint32_t narrow(std::size_t number)
{
    return static_cast<std::uint32_t>(number);
}

/// "line 3, column 7" of the byte at `offset`; columns count characters.
std::string position(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, offset);
    const std::size_t newline = before.rfind('\n');
    const std::string_view line = newline == std::string_view::npos ? before : before.substr(newline + 1);
    const auto column =
        std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) + ", column " +
           std::to_string(1 + column);
}

/// What nlohmann says is wrong, without its own prefix, position and the bytes it read.
std::string reason_of(std::string_view what)
{
    const std::size_t dash = what.find(" - ");
    std::string_view reason = dash == std::string_view::npos ? "a number beyond the range of float64" : what.substr(dash + 3);
    return std::string(reason.substr(0, reason.find("; last read: '")));
}

/// What both ways of reading share: where the parser is, and how it fails.
class Events {
public:
    explicit Events(std::string_view text, std::string_view what = {}) : text_(text), what_(what), reached_(text.data()) {}

    /// Hands the events of the text to `self`, until one of them says false. Throws Error(data) for what is no JSON.
    template <typename Self>
    void walk(Self& self)
    {
        const std::size_t nul = text_.find('\0'); // where nlohmann would believe the text to end
        if (nul != std::string_view::npos) {
            fail("NUL byte", nul);
        }
        Json::sax_parse(Walk(text_.data(), &reached_), Walk(text_.data() + text_.size(), &reached_), &self);
    }
    bool binary(Json::binary_t&) { return false; }
    /// `read` counts the bytes up to the one that is wrong, and one more at the end of the text.
    bool parse_error(std::size_t read, const std::string&, const nlohmann::detail::exception& error)
    {
        fail(reason_of(error.what()), read == 0 ? 0 : read - 1);
    }

protected:
    [[nodiscard]] std::size_t here() const { return static_cast<std::size_t>(reached_ - text_.data()); }
    [[noreturn]] void fail(const std::string& reason, std::size_t offset) const
    {
        const std::string prefix = what_.empty() ? "" : std::string(what_) + ": ";
        throw Error(ErrorKind::data, prefix + "malformed JSON at " + position(text_, offset) + ": " + reason);
    }
    void enter()
    {
        if (++depth_ > deepest) {
            fail("nested deeper than " + std::to_string(deepest) + " levels", here() - 1);
        }
    }
    void leave() { --depth_; }
    [[nodiscard]] std::size_t depth() const { return depth_; }
    [[nodiscard]] std::string_view text() const { return text_; }

private:
    std::string_view text_;
    std::string_view what_;
    const char* reached_;
    std::size_t depth_ = 0;
};

/// Lays the values of a text down one after the other.
class Builder : public Events {
public:
    Builder(std::string_view source, std::string_view what, std::vector<Node>& nodes, std::string& strings)
        : Events(source, what), nodes_(nodes), strings_(strings)
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
        leave();
        return true;
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
            fail("key " + quoted(*twice) + " given twice in the object that ends here", here() - 1);
        }
    }

    std::vector<Node>& nodes_;
    std::string& strings_;
    std::vector<std::size_t> open_;
};

/// Stops at the outermost "schema".
class SchemaFinder : public Events {
public:
    using Events::Events;

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
        found_ = depth() == 1 && value == "schema";
        return true;
    }
    bool start_object(std::size_t)
    {
        const bool on = depth() == 0 || other();
        enter();
        return on;
    }
    bool start_array(std::size_t)
    {
        const bool on = other();
        enter();
        return on;
    }
    bool end_object()
    {
        leave();
        return true;
    }
    bool end_array()
    {
        leave();
        return true;
    }

private:
    /// Goes on, unless this was the value looked for.
    bool other()
    {
        if (depth() == 0) {
            throw Error(ErrorKind::data, "JSON", "a value of another kind", "an object");
        }
        return !found_;
    }
    bool found_ = false;
};

} // namespace

JsonDocument::JsonDocument(std::string_view text, std::string_view what) : text_(text)
{
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error(ErrorKind::too_large, "JSON", std::to_string(text.size()) + " bytes", "up to 4294967295");
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
