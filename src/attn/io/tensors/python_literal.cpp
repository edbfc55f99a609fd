#include "attn/io/tensors/python_literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace attn::io {

void PythonLiteral::refuse(std::string_view allowed) const
{
    const std::string_view rest = text_.substr(at_);
    throw Error(ErrorKind::data, fmt::format("{}, character {}", what_, at_ + 1),
                rest.empty() ? "its end" : in_quotes(rest.substr(0, 24)), allowed);
}

void PythonLiteral::blanks()
{
    at_ = std::min(text_.find_first_not_of(" \t\r\n\f", at_), text_.size());
}

bool PythonLiteral::skip(char c)
{
    blanks();
    const bool found = at_ < text_.size() && text_[at_] == c;
    at_ += found ? 1 : 0;
    return found;
}

void PythonLiteral::expect(char c)
{
    if (!skip(c)) {
        refuse(fmt::format("'{}'", c));
    }
}

bool PythonLiteral::skip_word(std::string_view word)
{
    const bool found = text_.substr(at_).starts_with(word);
    at_ += found ? word.size() : 0;
    return found;
}

std::string_view PythonLiteral::string()
{
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = text_.find(quote, at_ + 1);
    const std::string_view content = end == std::string_view::npos ? "\n" : text_.substr(at_ + 1, end - at_ - 1);
    if ((quote != '\'' && quote != '"') || content.find_first_of("\\\n") != std::string_view::npos) {
        refuse("a string between quotes, without escapes");
    }
    at_ = end + 1;
    return content;
}

std::string_view PythonLiteral::string_or_list()
{
    blanks();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
        blanks();
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        if (c == '[' || c == '(') {
            ++depth;
        } else if (depth == 0) {
            return string();
        } else if (c == ']' || c == ')') {
            --depth;
        } else if (c == '\'' || c == '"') {
            (void)string();
            continue;
        } else if (at_ == text_.size()) {
            refuse("the end of the list");
        }
        ++at_;
    } while (depth > 0);
    return text_.substr(begin, at_ - begin);
}

bool PythonLiteral::truth()
{
    blanks();
    const bool yes = skip_word("True");
    if (!yes && !skip_word("False")) {
        refuse("True or False");
    }
    return yes;
}

Index PythonLiteral::integer()
{
    blanks();
    Index value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    const bool padded = end - begin > 1 && *begin == '0';
    if (error != std::errc() || padded || *begin == '-') {
        refuse("a length from 0 to 2^63-1");
    }
    at_ += static_cast<std::size_t>(end - begin);
    skip_word("L");
    return value;
}

Shape PythonLiteral::tuple(std::size_t most)
{
    Shape shape;
    expect('(');
    while (!skip(')')) {
        if (shape.size() == most) {
            refuse(fmt::format("up to {} dimensions", most));
        }
        shape.push_back(integer());
        if (!skip(',')) {
            if (shape.size() == 1) {
                refuse("',': a tuple of one length needs it");
            }
            expect(')');
            break;
        }
    }
    return shape;
}

} // namespace attn::io
