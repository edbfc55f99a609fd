// The arithmetic of one query word, for people and as JSON ("attn-cli/explanation/1").
#pragma once

#include "attn/model/explain/explanation.hpp"
#include "attn/report/text/shading.hpp"
#include "attn/tensor/buffer.hpp"

#include <optional>

namespace attn::report {

struct ExplanationOptions {
    int digits = 4;                  ///< after the point
    std::optional<Index> width;      ///< columns of the terminal; 80 at most are used, also when absent
    bool markdown = false;           ///< CommonMark with tables as GitHub has them
    Shading shading = Shading::none; ///< of weights, on a scale from 0 to 1; otherwise headings are not bold
};

/// A worked example: each step with its formula, the shapes, and the numbers of these words in it. With Explanation::key the
/// products of that cell one by one, otherwise the keys side by side. Numbers are written as in tables, each vector and each
/// column as PyTorch prints it.
void write_explanation(const model::Explanation& explanation, const ExplanationOptions& options, Buffer& buffer);

/// One object on one line, with every term of every key. What the result holds stands there as in the result's JSON; the terms
/// are float64. Ends with a newline.
void write_explanation_json(const model::Explanation& explanation, Buffer& buffer);

} // namespace attn::report
