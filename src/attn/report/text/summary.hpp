// The summary of a result, for people and for programs.
#pragma once

#include "attn/report/json_writer.hpp"
#include "attn/report/text/table.hpp"

namespace attn::report {

/// A table of the means, one row per head, and below it the pairs of each head; on a terminal their lines are broken between
/// pairs. A word that occurs more than once is followed by its position: "be[5]". Of a whole trained model it is one table of
/// all heads, "3.1" for head 1 of layer 3, and there are pairs only where the options say so.
void write_summary(Buffer& buffer, const model::Result& result, const TableOptions& options);

/// {"largest_entropy":…,"heads":[{"entropy":…,"itself":…,…,"pairs":[{"query":1,"query_token":"is",…}]}]}
void write_summary(JsonWriter& json, const model::Result& result, const model::Layer& layer);

} // namespace attn::report
