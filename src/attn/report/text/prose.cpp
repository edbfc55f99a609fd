#include "attn/report/text/prose.hpp"

#include "attn/report/text/display.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace attn::report {
namespace {

constexpr Index gap = 2; // between columns
constexpr std::string_view bold = "\x1b[1m";

Index width_of(const Column& column)
{
    return std::max(display_width(column.title), widest(column.cells, display_width));
}

/// As display_width, for text that glue holds together.
Index width_with_glue(std::string_view text)
{
    return display_width(finished(text));
}

} // namespace

std::string finished(std::string_view line)
{
    std::string text(line.substr(0, line.find_last_not_of(' ') + 1));
    std::ranges::replace(text, glue, ' ');
    return text;
}

std::string wrapped(std::string line, std::string_view text, Index hang, Index width)
{
    std::string lines;
    bool empty = true; // nothing but the indentation so far
    while (!text.empty()) {
        std::size_t end = std::min(text.find(' '), text.size());
        if (hang + width_with_glue(text.substr(0, end)) > width) { // glue does not hold what no line can hold
            end = std::min(text.find_first_of(" \x1f"), text.size());
        }
        const std::string_view word = text.substr(0, end);
        if (!empty && width_with_glue(line) + 1 + width_with_glue(word) > width) {
            lines += finished(line) + "\n";
            line = blanks(hang);
            empty = true;
        }
        line.append(empty ? "" : " ").append(word);
        empty = false;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines + finished(line) + "\n";
}

void Prose::put(std::string_view line)
{
    buffer_.append(finished(line));
    buffer_.append("\n");
}

void Prose::heading(std::string_view text, Index hang)
{
    std::string lines = wrapped("", text, std::min(hang, indent_), width_);
    if (is_coloured(shading_)) { // nothing outlives a line
        lines.pop_back();
        for (std::size_t end = lines.find('\n'); end != std::string::npos; end = lines.find('\n', end + bold.size())) {
            lines.replace(end, 1, fmt::format("{}\n{}", colours_end, bold));
        }
        lines = fmt::format("{}{}{}\n", bold, lines, colours_end);
    }
    buffer_.append(lines);
}

void Prose::paragraph(std::string_view text)
{
    buffer_.append(wrapped(blanks(indent_), text, indent_, width_));
}

void Prose::sum(std::string_view start, const std::vector<std::string>& terms)
{
    const Index hang = indent_ + display_width(start);
    const bool own_line = hang > width_ / 2; // the terms begin below a long start
    std::string line = blanks(indent_) + std::string(start);
    if (own_line) {
        put(line);
        line = blanks(indent_);
    }
    bool first = true;
    for (const std::string& term : terms) {
        const std::string piece = (first ? "" : "+ ") + term;
        if (!first && width_with_glue(line) + 1 + width_with_glue(piece) > width_) {
            end_sum(line);
            line = blanks(own_line ? indent_ : std::max(indent_, hang - gap)) + piece; // the signs stand before the first term
        } else {
            line.append(first ? "" : " ").append(piece);
        }
        first = false;
    }
    end_sum(line);
}

/// A line of a sum; a term that no line can hold is broken at its glue.
void Prose::end_sum(const std::string& line)
{
    if (width_with_glue(line) <= width_) {
        put(line);
    } else {
        Prose::paragraph(std::string_view(line).substr(line.find_first_not_of(' ')));
    }
}

void Prose::vector(const std::vector<std::string>& numbers)
{
    const Index number = widest(numbers, display_width);
    const Index label = std::ssize(fmt::format("[{}]", std::max<std::size_t>(numbers.size(), 1) - 1));
    const Index fitting = (width_ - indent_ - label) / (number + gap);
    constexpr std::array<Index, 4> counts{8, 4, 2, 1};
    const auto chosen = std::ranges::find_if(counts, [&](Index count) { return count <= fitting; });
    const Index a_line = chosen == counts.end() ? 1 : *chosen;
    std::string line;
    for (Index i = 0; i < std::ssize(numbers); ++i) {
        if (i % a_line == 0) {
            line = blanks(indent_) + aligned_right(fmt::format("[{}]", i), label);
        }
        line += blanks(gap) + aligned_right(numbers[static_cast<std::size_t>(i)], number);
        if (i % a_line == a_line - 1 || i + 1 == std::ssize(numbers)) {
            put(line);
        }
    }
}

void Prose::table(const Column& labels, const std::vector<Column>& columns)
{
    std::vector<Column> part;
    Index used = indent_ + width_of(labels);
    for (const Column& column : columns) {
        const Index width = gap + width_of(column);
        if (!part.empty() && used + width > width_) {
            table_part(labels, part);
            blank();
            part.clear();
            used = indent_ + width_of(labels);
        }
        part.push_back(column);
        used += width;
    }
    table_part(labels, part);
}

void Prose::table_part(const Column& labels, const std::vector<Column>& columns)
{
    const Index label_width = width_of(labels);
    std::vector<Index> widths;
    std::ranges::transform(columns, std::back_inserter(widths), width_of);
    for (std::size_t line = 0; line <= labels.cells.size(); ++line) {
        std::string text = blanks(indent_) + aligned_left(labels.at(line), label_width);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const std::vector<double>& shares = columns[j].shares;
            const bool shaded = line > 0 && line <= shares.size();
            const std::string colours = shaded ? cell_colours(shading_, shares[line - 1], false) : "";
            text += blanks(gap - 1) + colours + ' ' + aligned_right(columns[j].at(line), widths[j]);
            text += colours.empty() ? "" : colours_end;
        }
        put(text);
    }
}

} // namespace attn::report
