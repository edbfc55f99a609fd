// Result → text tables for people.
#pragma once

#include "attn/model/trained/layered_result.hpp"
#include "attn/report/buffer.hpp"
#include "attn/report/text/notation.hpp"
#include "attn/report/text/shading.hpp"

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
    bool layer_pairs = false;  ///< the strongest pairs of each layer below its summary
};

/// Rows are query words, columns key words; weights have a last column with the row's sum where one is not 1. On a terminal
/// with colours weights whose numbers do not fit are drawn without them (half_blocks.hpp).
/// The buffer is not flushed: for many results in a row.
void write_table(const model::Result& result, const TableOptions& options, Buffer& buffer);

/// The tokens; then layer by layer what is shown of it, under a line with its number. A summary is one table of all heads,
/// "3.1" for head 1 of layer 3.
void write_table(const model::LayeredResult& result, const TableOptions& options, Buffer& buffer);

template <typename AnyResult>
void write_table(const AnyResult& result, const TableOptions& options, const Sink& sink)
{
    Buffer buffer(sink);
    write_table(result, options, buffer);
    buffer.flush();
}

} // namespace attn::report
