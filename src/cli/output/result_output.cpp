#include "cli/output/result_output.hpp"

#include "attn/report/csv.hpp"
#include "attn/report/text/introduction.hpp"
#include "attn/report/text/printed_recipe.hpp"
#include "attn/tensor/error.hpp"
#include "cli/output/page.hpp"
#include "cli/output/result_tensors.hpp"

#include <fmt/format.h>

#include <vector>

namespace attn::cli {
namespace {

/// With the names of what heads of weights do.
void write_picture(const model::Result& result, const ResultFormat& how, Buffer& out)
{
    report::SvgOptions picture = how.picture;
    picture.caption = how.captioned ? report::caption(result) : "";
    std::vector<model::Summary> summaries;
    for (const model::Layer& layer : result.layers) {
        if (layer.find(model::Item::weights) != nullptr) {
            summaries.push_back(model::summarize(result, layer, 1));
        }
    }
    report::write_svg(result, summaries, picture, out);
}

} // namespace

void write_result(const model::Result& result, const ResultFormat& how, const std::optional<SeriesPlace>& place, Buffer& out)
{
    const std::optional<Index> index = place ? std::optional(place->index) : std::nullopt;
    switch (how.format) {
    case Format::table:
        out.append(place ? fmt::format("{}{}\n", place->first ? "" : "\n", place->name) : "");
        return report::write_table(result, how.table, out);
    case Format::json: return report::write_json(result, {.index = index, .config = place ? place->config : nullptr}, out);
    case Format::csv: return report::write_csv(result, {.header = how.header && (!place || place->first), .index = index}, out);
    case Format::svg: return write_picture(result, how, out);
    case Format::html: return write_page(result, how.page, out);
    case Format::recipe: report::write_recipe(report::printed_recipe(result, how.table.digits), out); return out.append("\n");
    case Format::npz:
    case Format::safetensors: return write_result_tensors(result, how.format, out);
    case Format::npy:
    case Format::markdown: break; // of other commands
    }
    throw Error(ErrorKind::internal, "write_result", name_of(how.format), "a format of results");
}

} // namespace attn::cli
