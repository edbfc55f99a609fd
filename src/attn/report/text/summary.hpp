// The summary of a result, for people and for programs.
#pragma once

#include "attn/report/json_writer.hpp"
#include "attn/report/text/table.hpp"

namespace attn::report {

/// A table of the means, a row a head, and below it the pairs of each head; on a terminal their lines are broken between pairs.
/// A word that occurs more than once has its position behind it: "be[5]".
void write_summary(Buffer& buffer, const model::Result& result, const TableOptions& options);

/// Of the layers of a whole trained model, at least one: a table of the means, a row "layer.head".
void write_summary(Buffer& buffer, const std::vector<model::Result>& layers, const TableOptions& options);

/// {"largest_entropy":…,"heads":[{"entropy":…,"itself":…,…,"pairs":[{"query":1,"query_token":"is",…}]}]}
void write_summary(JsonWriter& json, const model::Result& result);

} // namespace attn::report
