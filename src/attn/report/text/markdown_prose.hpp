// The same text as Markdown: CommonMark, with tables as GitHub has them.
#pragma once

#include "attn/report/text/prose.hpp"

namespace attn::report {

/// Sums and vectors stand in blocks of code, whose columns stay aligned; paragraphs are one line each.
class MarkdownProse final : public Prose {
public:
    /// `width` is that of a block of code. The buffer must outlive it.
    MarkdownProse(Buffer& buffer, Index width) : Prose(buffer, width, 0, Shading::none) {}

    void blank() override {} // each part has an empty line before it
    void title(std::string_view text) override;
    void heading(std::string_view text, Index hang) override;
    void remark(std::string_view text) override { paragraph(text); }
    void paragraph(std::string_view text) override;
    void sum(std::string_view start, const std::vector<std::string>& terms) override;
    void vector(const std::vector<std::string>& numbers) override;
    void table(const Column& labels, const std::vector<Column>& columns) override;
    void finish() override { end_code(); }

private:
    void part();
    void block(std::string_view text);
    void begin_code();
    void end_code();

    bool first_ = true;
    bool in_code_ = false;
};

/// Text of which nothing is taken for markup: within a line, and as a paragraph of one line.
[[nodiscard]] std::string markdown_text(std::string_view text);
[[nodiscard]] std::string markdown_paragraph(std::string_view text);

} // namespace attn::report
