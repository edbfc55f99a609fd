// Result → text tables for people.
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/report/text/notation.hpp"
#include "attn/report/text/shading.hpp"
#include "attn/tensor/buffer.hpp"

#include <optional>

namespace attn::report {

struct TableOptions {
    int digits = 4;                  ///< after the point
    std::optional<Index> width = {}; ///< columns of the terminal: what does not fit is left out with "…"; absent: everything
    Shading shading = Shading::none; ///< of the weights: a heat map, with a legend beside its title
    bool all_digits = false;         ///< numbers also where some columns do not fit, but colours would show all
    ShadeOptions shade = {};
    NotationRule notation = NotationRule::fixed;
    bool ids_in_words = false; ///< one line of words with their ids in place of tokens and vocabulary
    bool introduced = false;   ///< by a line that says what this is
    bool layer_pairs = false;  ///< of a whole trained model: the strongest pairs of each layer below the summary
};

/// Rows are query words, columns key words; weights have a last column with the row's sum where one of their head is not 1. On
/// a terminal with colours weights whose numbers do not fit are drawn without them (grid.hpp). Of a whole trained model the
/// words come first, then the summary, and layer by layer what is shown of it, under a line with its number.
void write_table(const model::Result& result, const TableOptions& options, Buffer& buffer);

} // namespace attn::report
