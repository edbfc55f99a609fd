// A result as bytes: the one switch over its formats. A new format is a row of options/format.hpp, its exporter, and a case
// here; what stands between several results is here, too. And tensors to .npy, .npz, .safetensors, those of a result by the
// names of its JSON.
#pragma once

#include "attn/io/tensors/tensor_file.hpp"
#include "attn/model/run/result.hpp"
#include "attn/report/html/html.hpp"
#include "attn/report/json/json.hpp"
#include "attn/report/svg/svg.hpp"
#include "attn/report/text/table.hpp"
#include "attn/tensor/buffer.hpp"
#include "attn/tensor/view.hpp"
#include "cli/options/format.hpp"
#include "cli/output/output.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
    const report::ConfigText* config = nullptr; ///< that all of them have
};

/// What stands before the first of several results, and before each of the others: the names of the columns, with those of a
/// whole trained model, or an empty line.
void begin_result(const ResultFormat& how, bool first, bool of_model, Buffer& out);

/// One result, of several without what stands before it. The buffer is not flushed: for many results in a row. Throws as the
/// exporters, before anything is written.
void write_result(const model::Result& result, const ResultFormat& how, const std::optional<SeriesPlace>& place, Buffer& out);

/// The arrays that are shown: ids and positions as int64, parameters, everything computed; a .safetensors also says the schema
/// and the config. An .npy is one of them, without the rows and heads that were chosen. Of a whole trained model those of a
/// layer are called "layers.3.weights". Throws Error(usage) when only words are shown.
void write_result_tensors(const model::Result& result, Format format, Buffer& out);

/// Throws Error(usage) for more arrays than a file of this format holds.
void require_arrays(Index count, Format format);

/// An array that each of many results has in the same shape.
struct LineArray {
    std::string name;
    Shape shape;
};
/// The numbers of the arrays that are shown, float32, one array behind the other.
void append_numbers(const model::Result& result, Buffer& out);
/// `lines`: what append_numbers() gave for one after the other. Each array with a row for each of them, in a binary format.
void write_line_arrays(const std::vector<LineArray>& arrays, std::string_view lines, Format format, Buffer& out);

/// Throws Error(usage) when the output is a terminal, which can do nothing with a binary format.
void refuse_terminal(const Output& output, Format format);

/// What of them is written.
[[nodiscard]] std::vector<NamedTensor> views_of(const std::vector<StoredTensor>& tensors);

/// What stands in the second file of a format that has one, Output's `beside`; empty of any other.
[[nodiscard]] std::string header_of(const std::vector<NamedTensor>& tensors, Format format);

/// In a binary format. The metadata goes into a .safetensors, or the comment of an .npz.
void write_tensors(const std::vector<NamedTensor>& tensors, Format format, const io::Metadata& metadata, Buffer& out);

} // namespace attn::cli
