// Reading JSON as a stream of events, strictly and with line and column of what is malformed.
#pragma once

#include <nlohmann/json.hpp>

#include <iterator>
#include <string>
#include <string_view>

namespace attn::io {

using Json = nlohmann::json;

inline constexpr std::size_t deepest_json = 32; ///< objects and arrays within one another

/// Walks over the text and tells how far the parser has come, because the parser keeps the text of integers to itself.
class JsonWalk {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    JsonWalk() = default;
    JsonWalk(const char* at, const char** reached) : at_(at), reached_(reached) {}
    reference operator*() const { return *at_; }
    JsonWalk& operator++()
    {
        *reached_ = ++at_;
        return *this;
    }
    JsonWalk operator++(int)
    {
        JsonWalk before = *this;
        ++*this;
        return before;
    }
    bool operator==(const JsonWalk& other) const { return at_ == other.at_; }

private:
    const char* at_ = nullptr;
    const char** reached_ = nullptr;
};

/// What all ways of reading share: where the parser is, and how it fails. Whoever derives has a function for each event of the
/// parser (nlohmann's SAX interface) that it asks for; one that says false ends the walk.
class JsonEvents {
public:
    explicit JsonEvents(std::string_view text, std::string_view what = {}) : text_(text), what_(what), reached_(text.data()) {}

    /// Hands the events of the text to `self`, until one of them says false. Throws Error(data) for what is no JSON.
    template <typename Self>
    void walk(Self& self)
    {
        refuse_nul();
        Json::sax_parse(JsonWalk(text_.data(), &reached_), JsonWalk(text_.data() + text_.size(), &reached_), &self);
    }
    // Nobody asks for these: the walk goes on.
    static bool null() { return true; }
    static bool boolean(bool) { return true; }
    static bool number_integer(Json::number_integer_t) { return true; }
    static bool number_unsigned(Json::number_unsigned_t) { return true; }
    static bool number_float(Json::number_float_t, const std::string&) { return true; }
    static bool string(std::string&) { return true; }
    static bool key(std::string&) { return true; }
    bool start_object(std::size_t) { return enter(); }
    bool start_array(std::size_t) { return enter(); }
    bool end_object() { return leave(); }
    bool end_array() { return leave(); }
    static bool binary(Json::binary_t&) { return false; }
    /// `read` counts the bytes up to the one that is wrong, and one more at the end of the text.
    bool parse_error(std::size_t read, const std::string&, const nlohmann::detail::exception& error);

protected:
    [[nodiscard]] std::size_t here() const { return static_cast<std::size_t>(reached_ - text_.data()); }
    /// What is no JSON; and what is, but not what it should be.
    [[noreturn]] void fail(const std::string& reason, std::size_t offset) const;
    [[noreturn]] void refuse(const std::string& reason, std::size_t offset) const;
    bool enter(); ///< says true, like leave
    bool leave()
    {
        --depth_;
        return true;
    }
    [[nodiscard]] std::size_t depth() const { return depth_; }
    [[nodiscard]] std::string_view text() const { return text_; }

private:
    void refuse_nul() const;
    [[nodiscard]] std::string prefix() const;

    std::string_view text_;
    std::string_view what_;
    const char* reached_;
    std::size_t depth_ = 0;
};

} // namespace attn::io
