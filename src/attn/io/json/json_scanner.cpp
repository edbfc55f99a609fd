#include "attn/io/json/json_scanner.hpp"

#include "attn/io/bytes.hpp"
#include "attn/math/decimal.hpp"
#include "attn/tensor/error.hpp"
#include "attn/tensor/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace attn::io {
namespace {

constexpr std::string_view any_value = "'[', '{', or a literal";

constexpr std::array<std::string_view, 32> controls{"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS",  "HT",  "LF",
                                                    "VT",  "FF",  "CR",  "SO",  "SI",  "DLE", "DC1", "DC2", "DC3", "DC4", "NAK",
                                                    "SYN", "ETB", "CAN", "EM",  "SUB", "ESC", "FS",  "GS",  "RS",  "US"};

bool is_plain(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/// How many bytes begin a code point in the ill-formed UTF-8 at the front.
std::size_t well_formed_bytes(std::string_view text)
{
    std::size_t bytes = 0;
    const auto begins_one = [&](std::string_view bytes_behind) {
        return front(std::string(text.substr(0, bytes + 1)).append(bytes_behind)).well_formed;
    };
    while (bytes < text.size() && (begins_one("\x80\x80\x80") || begins_one("\xBF\xBF\xBF"))) {
        ++bytes;
    }
    return bytes;
}

} // namespace

JsonScanner::JsonScanner(std::string_view text, std::string_view what)
    : text_(text), what_(what), at_(text.size() - without_byte_order_mark(text).size())
{
    const std::size_t nul = text.find('\0');
    if (nul != std::string_view::npos) {
        fail("NUL byte", nul);
    }
}

void JsonScanner::fail(std::string_view reason, std::size_t offset) const
{
    throw Error(ErrorKind::data, fmt::format("{}{}malformed JSON at {}: {}", what_, what_.empty() ? "" : ": ",
                                             position_in(text_, offset), reason));
}

void JsonScanner::refuse(std::string_view reason, std::size_t offset) const
{
    throw Error(ErrorKind::data,
                fmt::format("{}{}{}: {}", what_, what_.empty() ? "" : ": ", position_in(text_, offset), reason));
}

void JsonScanner::unexpected(std::string_view expected)
{
    std::string found;
    switch (const char c = next()) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
        found = fmt::format("'{}'", c);
        ++at_;
        break;
    case '"': (void)string(), found = "string literal"; break;
    case 't': word("true"), found = "true literal"; break;
    case 'f': word("false"), found = "false literal"; break;
    case 'n': word("null"), found = "null literal"; break;
    case '\0': at_ = text_.size() + 1, found = "end of input"; break;
    default:
        if (c == '\xEF' && at_ == 0) {
            fail("invalid BOM; must be 0xEF 0xBB 0xBF if given", at(1) == '\xBB' ? 2 : 1);
        }
        if (c != '-' && !is_digit(c)) {
            fail("invalid literal", at_);
        }
        (void)number(), found = "number literal";
    }
    fail(fmt::format("unexpected {}; expected {}", found, expected), at_ - 1);
}

char JsonScanner::next()
{
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
        ++at_;
    }
    return at(at_);
}

void JsonScanner::expect(char c, std::string_view name)
{
    if (next() != c) {
        unexpected(name);
    }
    ++at_;
}

void JsonScanner::open(char bracket)
{
    expect(bracket, any_value);
    if (++depth_ > deepest_json) {
        fail(fmt::format("nested deeper than {} levels", deepest_json), at_ - 1);
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
    expect(',', bracket == '}' ? "'}'" : "']'");
    return false;
}

std::string_view JsonScanner::string()
{
    expect('"', "string literal");
    std::size_t begin = at_; // of what is not decoded yet
    bool decoded = false;
    for (;;) {
        while (at_ < text_.size() && is_plain(text_[at_])) {
            ++at_;
        }
        const char c = at(at_);
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
            refuse_character();
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

void JsonScanner::refuse_character() const
{
    if (at_ == text_.size()) {
        fail("invalid string: missing closing quote", at_);
    }
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte >= controls.size()) {
        fail("invalid string: ill-formed UTF-8 byte", at_ + well_formed_bytes(text_.substr(at_, 4)));
    }
    constexpr std::string_view with_letters = "\b\t\n\f\r", letters = "btnfr";
    const std::size_t letter = with_letters.find(text_[at_]);
    fail(fmt::format("invalid string: control character U+{0:04X} ({1}) must be escaped to \\u{0:04X}{2}{3}", byte,
                     controls.at(byte), letter == std::string_view::npos ? "" : " or \\",
                     letter == std::string_view::npos ? "" : letters.substr(letter, 1)),
         at_);
}

unsigned JsonScanner::hexadecimal()
{
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
        const char c = at(at_);
        unsigned digit = 0;
        if (is_digit(c)) {
            digit = static_cast<unsigned>(c - '0');
        } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
            digit = (static_cast<unsigned>(c) & 0xFU) + 9;
        } else {
            fail("invalid string: '\\u' must be followed by 4 hex digits", at_);
        }
        value = value << 4U | digit;
    }
    return value;
}

void JsonScanner::escape()
{
    ++at_; // the backslash
    const char c = at(at_);
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (c != 'u') {
        const std::size_t letter = letters.find(c);
        if (letter == std::string_view::npos) {
            fail("invalid string: forbidden character after backslash", at_);
        }
        ++at_;
        decoded_ += meanings[letter];
        return;
    }
    ++at_;
    unsigned value = hexadecimal();
    if (value >= 0xDC00 && value <= 0xDFFF) {
        fail("invalid string: surrogate U+DC00..U+DFFF must follow U+D800..U+DBFF", at_ - 1);
    }
    if (value >= 0xD800 && value < 0xDC00) {
        constexpr std::string_view alone = "invalid string: surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF";
        if (at(at_) != '\\' || at(at_ + 1) != 'u') {
            fail(alone, at(at_) == '\\' ? at_ + 1 : at_);
        }
        at_ += 2;
        const unsigned low = hexadecimal();
        if (low < 0xDC00 || low > 0xDFFF) {
            fail(alone, at_ - 1);
        }
        value = 0x10000 + ((value - 0xD800) << 10U) + (low - 0xDC00);
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
    while (is_digit(at(at_))) {
        ++at_;
    }
    return at_ - begin;
}

std::string_view JsonScanner::number()
{
    const char first = next();
    if (first != '-' && !is_digit(first)) {
        unexpected(any_value);
    }
    const std::size_t begin = at_;
    at_ += first == '-' ? 1 : 0;
    if (at(at_) == '0') {
        ++at_; // and no digit behind it
    } else if (digits() == 0) {
        fail("invalid number; expected digit after '-'", at_);
    }
    if (at(at_) == '.') {
        ++at_;
        if (digits() == 0) {
            fail("invalid number; expected digit after '.'", at_);
        }
    }
    if (at(at_) == 'e' || at(at_) == 'E') {
        ++at_;
        const bool sign = at(at_) == '+' || at(at_) == '-';
        at_ += sign ? 1 : 0;
        if (digits() == 0) {
            fail(sign ? "invalid number; expected digit after exponent sign"
                      : "invalid number; expected '+', '-', or digit after exponent",
                 at_);
        }
    }
    return text_.substr(begin, at_ - begin);
}

void JsonScanner::word(std::string_view letters)
{
    for (const char letter : letters) {
        if (at(at_) != letter) {
            fail("invalid literal", at_);
        }
        ++at_;
    }
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
    default: {
        const std::string_view text = number();
        const bool small = text.size() <= 300 && text.find_first_of("eE") == std::string_view::npos;
        if (!small && !std::isfinite(math::nearest<double>(text))) {
            fail("a number beyond the range of float64", at_ - 1);
        }
    }
    }
    return text_.substr(begin, at_ - begin);
}

void JsonScanner::end()
{
    if (next() != '\0') {
        unexpected("end of input");
    }
}

} // namespace attn::io
