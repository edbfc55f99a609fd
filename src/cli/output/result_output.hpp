// A result as bytes: the one switch over its formats. A new format is a row of options/format.hpp, its exporter, and a case
// here.
#pragma once

#include "attn/model/run/result.hpp"
#include "attn/report/html/html.hpp"
#include "attn/report/json/json.hpp"
#include "attn/report/svg/svg.hpp"
#include "attn/report/text/table.hpp"
#include "cli/options/format.hpp"

#include <optional>
#include <string>

namespace attn::cli {

/// How a result is written, and what the exporters take beside it.
struct ResultFormat {
    Format format = Format::table;
    report::TableOptions table = {}; ///< whose digits are those of a recipe, too
    report::SvgOptions picture = {}; ///< but for the caption
    bool captioned = false;          ///< below a picture stands what it is of
    report::PageOptions page = {};
    bool header = true; ///< of CSV
};

/// Which of several results in one output it is.
struct SeriesPlace {
    Index index = 0;                            ///< as JSON and CSV say it
    std::string name;                           ///< "entry 0", above its tables
    bool first = false;                         ///< nothing stands above it
    const report::ConfigText* config = nullptr; ///< that all of them have
};

/// The buffer is not flushed: for many results in a row. Throws as the exporters, before anything is written.
void write_result(const model::Result& result, const ResultFormat& how, const std::optional<SeriesPlace>& place, Buffer& out);

} // namespace attn::cli
