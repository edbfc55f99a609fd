// Result → CSV in long form: array,head,row,column,query_token,key_token,value (RFC 4180 quoting, "\n" line ends).
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/tensor/buffer.hpp"

#include <optional>
#include <string>

namespace attn::report {

/// One record per number, the numbers as in JSON (a masked score is empty). With `index` a first column "index" holds the
/// line's number; of several results in one file the first alone has a header, whichever line it is of. Of a whole trained
/// model there is a column "layer" after that of the array.
struct CsvOptions {
    bool header = true;
    std::optional<Index> index;
};
void write_csv(const model::Result& result, const CsvOptions& options, Buffer& buffer);

/// The names of the columns, and a newline.
[[nodiscard]] std::string csv_header(bool with_index, bool with_layer = false);

} // namespace attn::report
