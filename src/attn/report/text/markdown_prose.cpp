#include "attn/report/text/markdown_prose.hpp"

#include <algorithm>

namespace attn::report {
namespace {

constexpr std::string_view fence = "```\n";

bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// What a line cannot begin with and be a paragraph: it would be a heading, a list, a quotation, or what a link stands for.
std::size_t mark_at_front(std::string_view text)
{
    constexpr std::string_view marks = "#+->[";
    const std::size_t after = text.find_first_not_of("0123456789");
    const bool numbered = after != 0 && after < text.size() && (text[after] == '.' || text[after] == ')') &&
                          (after + 1 == text.size() || text[after + 1] == ' ');
    return numbered ? after : !text.empty() && marks.find(text.front()) != std::string_view::npos ? 0 : std::string_view::npos;
}

/// An underscore within a word, as in W_q, is none; nor are brackets with nothing behind them.
bool is_markup(std::string_view text, std::size_t i)
{
    constexpr std::string_view marks = "\\`*<|~&$";
    const bool last = i + 1 == text.size();
    const bool within = i > 0 && !last && is_letter_or_digit(text[i - 1]) && is_letter_or_digit(text[i + 1]);
    const bool link = text[i] == ']' && !last && (text[i + 1] == '(' || text[i + 1] == '[');
    return marks.find(text[i]) != std::string_view::npos || link || (text[i] == '_' && !within);
}

} // namespace

std::string markdown_text(std::string_view text)
{
    std::string escaped;
    for (std::size_t i = 0; i < text.size(); ++i) {
        escaped.append(is_markup(text, i) ? "\\" : "").push_back(text[i]);
    }
    return escaped;
}

std::string markdown_paragraph(std::string_view text)
{
    const std::size_t mark = mark_at_front(text);
    if (mark == std::string_view::npos) {
        return markdown_text(text);
    }
    return std::string(text.substr(0, mark)) + "\\" + text[mark] + markdown_text(text.substr(mark + 1));
}

void MarkdownProse::part()
{
    end_code();
    buffer().append(first_ ? "" : "\n");
    first_ = false;
}

void MarkdownProse::block(std::string_view text)
{
    part();
    buffer().append(text);
    buffer().append("\n");
}

void MarkdownProse::title(std::string_view text)
{
    block("# " + markdown_text(finished(text)));
}

void MarkdownProse::heading(std::string_view text, Index /*hang*/)
{
    block("## " + markdown_text(finished(text)));
}

void MarkdownProse::paragraph(std::string_view text)
{
    block(markdown_paragraph(finished(text)));
}

void MarkdownProse::begin_code()
{
    if (!in_code_) {
        part();
        buffer().append(fence);
        in_code_ = true;
    }
}

void MarkdownProse::end_code()
{
    if (in_code_) {
        buffer().append(fence);
        in_code_ = false;
    }
}

void MarkdownProse::sum(std::string_view start, const std::vector<std::string>& terms)
{
    begin_code();
    Prose::sum(start, terms);
}

void MarkdownProse::vector(const std::vector<std::string>& numbers)
{
    begin_code();
    Prose::vector(numbers);
}

void MarkdownProse::table(const Column& labels, const std::vector<Column>& columns)
{
    part();
    std::string rule = "| ---";
    for (std::size_t line = 0; line <= labels.cells.size(); ++line) {
        std::string text = "| " + markdown_text(labels.at(line));
        for (const Column& column : columns) {
            text += " | " + markdown_text(column.at(line));
            rule += " | ---:";
        }
        buffer().append(text + " |\n" + (line == 0 ? rule + " |\n" : ""));
    }
}

} // namespace attn::report
