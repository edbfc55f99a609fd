#include "attn/io/json/json_scanner.hpp"

#include "attn/io/json/json_events.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>

namespace attn::io {
namespace {

bool is_plain(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

} // namespace

void JsonScanner::malformed() const
{
    JsonEvents reviewer(text_); // what it throws says what is malformed, and where
    reviewer.walk(reviewer);
    throw Error(ErrorKind::data, fmt::format("byte {}", at_), "a value of another kind or the end",
                "what a tokenizer has there");
}

char JsonScanner::next()
{
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
        ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
}

void JsonScanner::expect(char c)
{
    if (next() != c) {
        malformed();
    }
    ++at_;
}

void JsonScanner::open(char bracket)
{
    expect(bracket);
    if (++depth_ > deepest_json) {
        malformed();
    }
}

bool JsonScanner::close(char bracket)
{
    if (next() != bracket) {
        return false;
    }
    ++at_;
    return true;
}

bool JsonScanner::ends(char bracket)
{
    if (close(bracket)) {
        return true;
    }
    expect(',');
    return false;
}

std::string_view JsonScanner::string()
{
    expect('"');
    std::size_t begin = at_; // of what is not decoded yet
    bool decoded = false;
    for (;;) {
        while (at_ < text_.size() && is_plain(text_[at_])) {
            ++at_;
        }
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        if (c == '"') {
            break;
        }
        if (c == '\\') {
            if (!decoded) {
                decoded_.clear();
                decoded = true;
            }
            decoded_ += text_.substr(begin, at_ - begin);
            escape();
            begin = at_;
            continue;
        }
        const CodePoint point = at_ < text_.size() ? front(text_.substr(at_)) : CodePoint{};
        if (!point.well_formed || point.bytes < 2) {
            malformed();
        }
        at_ += point.bytes;
    }
    const std::string_view rest = text_.substr(begin, at_ - begin);
    ++at_;
    if (!decoded) {
        return rest;
    }
    decoded_ += rest;
    return decoded_;
}

unsigned JsonScanner::hexadecimal()
{
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        unsigned digit = 0;
        if (c >= '0' && c <= '9') {
            digit = static_cast<unsigned>(c - '0');
        } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
            digit = (static_cast<unsigned>(c) & 0xFU) + 9;
        } else {
            malformed();
        }
        value = value << 4U | digit;
    }
    return value;
}

void JsonScanner::escape()
{
    ++at_; // the backslash
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const std::size_t letter = letters.find(c);
    ++at_;
    if (c != 'u') {
        if (letter == std::string_view::npos) {
            malformed();
        }
        decoded_ += meanings[letter];
        return;
    }
    unsigned value = hexadecimal();
    if (value >= 0xD800 && value < 0xDC00 && text_.substr(at_, 2) == "\\u") {
        at_ += 2;
        const unsigned low = hexadecimal();
        if (low < 0xDC00 || low > 0xDFFF) {
            malformed();
        }
        value = 0x10000 + ((value - 0xD800) << 10U) + (low - 0xDC00);
    } else if (value >= 0xD800 && value <= 0xDFFF) {
        malformed();
    }
    const auto put = [&](unsigned byte) { decoded_ += static_cast<char>(byte); };
    if (value < 0x80) {
        put(value);
    } else if (value < 0x800) {
        put(0xC0U | value >> 6U);
    } else if (value < 0x10000) {
        put(0xE0U | value >> 12U);
        put(0x80U | (value >> 6U & 0x3FU));
    } else {
        put(0xF0U | value >> 18U);
        put(0x80U | (value >> 12U & 0x3FU));
        put(0x80U | (value >> 6U & 0x3FU));
    }
    if (value >= 0x80) {
        put(0x80U | (value & 0x3FU));
    }
}

std::size_t JsonScanner::digits()
{
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        ++at_;
    }
    return at_ - begin;
}

std::string_view JsonScanner::number()
{
    (void)next();
    const std::size_t begin = at_;
    const auto is = [&](char a, char b) { return at_ < text_.size() && (text_[at_] == a || text_[at_] == b); };
    at_ += is('-', '-') ? 1 : 0;
    const bool zero = is('0', '0');
    const std::size_t whole = digits();
    bool right = whole > 0 && (whole == 1 || !zero);
    if (is('.', '.')) {
        ++at_;
        right = digits() > 0 && right;
    }
    if (is('e', 'E')) {
        ++at_;
        at_ += is('+', '-') ? 1 : 0;
        right = digits() > 0 && right;
    }
    if (!right) {
        malformed();
    }
    return text_.substr(begin, at_ - begin);
}

void JsonScanner::word(std::string_view letters)
{
    if (text_.substr(at_, letters.size()) != letters) {
        malformed();
    }
    at_ += letters.size();
}

std::string_view JsonScanner::skip()
{
    const char first = next();
    const std::size_t begin = at_;
    switch (first) {
    case '{': object([&](std::string_view) { (void)skip(); }); break;
    case '[': array([&] { (void)skip(); }); break;
    case '"': (void)string(); break;
    case 't': word("true"); break;
    case 'f': word("false"); break;
    case 'n': word("null"); break;
    default: (void)number();
    }
    return text_.substr(begin, at_ - begin);
}

void JsonScanner::end()
{
    if (next() != '\0' || at_ < text_.size()) {
        malformed();
    }
}

} // namespace attn::io
