// The result of a whole trained model as text for people.
#pragma once

#include "attn/model/trained/layered_result.hpp"
#include "attn/report/text/table.hpp"

namespace attn::report {

/// The tokens; then layer by layer what is shown of it, as write_table shows it, under a line with its number. A summary is one
/// table of all heads, "3.1" for head 1 of layer 3.
void write_table(const model::LayeredResult& result, const TableOptions& options, const Sink& sink);
void write_table(const model::LayeredResult& result, const TableOptions& options, Buffer& buffer);

} // namespace attn::report
