// Text for people: paragraphs, formulas, vectors and tables within the columns of a page. What must not be broken, a number
// above all, is never broken: it has a line of its own where the page is too narrow.
#pragma once

#include "attn/report/text/shading.hpp"
#include "attn/tensor/buffer.hpp"
#include "attn/tensor/shape.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attn::report {

/// A blank that is no place to break a line, unless no line can hold what it holds together.
inline constexpr char glue = '\x1f';

/// `text` behind `line`, in lines of at most `width` columns; further ones begin with `hang` blanks. Each ends with "\n".
[[nodiscard]] std::string wrapped(std::string line, std::string_view text, Index hang, Index width);

/// Without glue, and without blanks at the end.
[[nodiscard]] std::string finished(std::string_view line);

struct Column {
    std::string title;
    std::vector<std::string> cells;
    std::vector<double> shares = {}; ///< of the scale that cells are coloured by, one per cell; empty: no colours

    /// The title above the cells.
    [[nodiscard]] const std::string& at(std::size_t line) const { return line == 0 ? title : cells[line - 1]; }
};

class Prose {
public:
    /// With a shading of colours headings are bold, and cells of tables that have a share coloured. The buffer must outlive it.
    Prose(Buffer& buffer, Index width, Shading shading = Shading::none)
        : Prose(buffer, width, width < narrow ? 0 : usual_indent, shading)
    {
    }
    Prose(const Prose&) = delete;
    Prose(Prose&&) = delete;
    Prose& operator=(const Prose&) = delete;
    Prose& operator=(Prose&&) = delete;
    virtual ~Prose() = default;

    [[nodiscard]] Index width() const { return width_; }

    virtual void blank() { buffer_.append("\n"); }
    virtual void title(std::string_view text) { heading(text, 0); }
    /// At the left margin; further lines stand behind `hang` blanks.
    virtual void heading(std::string_view text, Index hang);
    /// At the left margin, too, but no heading.
    virtual void remark(std::string_view text) { buffer_.append(wrapped("", text, 0, width_)); }
    /// Indented.
    virtual void paragraph(std::string_view text);
    /// start, then the terms with " + " between them; lines break between terms and go on below the first one.
    virtual void sum(std::string_view start, const std::vector<std::string>& terms);
    /// Numbers in aligned columns, the place of the first one in front of each line.
    virtual void vector(const std::vector<std::string>& numbers);
    /// One line per cell, with `labels` at the left of them; where the columns do not fit, those that are left follow below.
    virtual void table(const Column& labels, const std::vector<Column>& columns);
    /// Nothing follows.
    virtual void finish() {}

protected:
    Prose(Buffer& buffer, Index width, Index indent, Shading shading)
        : buffer_(buffer), width_(width), indent_(indent), shading_(shading)
    {
    }

    [[nodiscard]] Buffer& buffer() { return buffer_; }

private:
    static constexpr Index narrow = 32, usual_indent = 3;

    void put(std::string_view line);
    void end_sum(const std::string& line);
    void table_part(const Column& labels, const std::vector<Column>& columns);

    Buffer& buffer_;
    Index width_, indent_;
    Shading shading_;
};

} // namespace attn::report
