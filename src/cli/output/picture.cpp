#include "cli/output/picture.hpp"

namespace attn::cli {

void write_picture(std::span<const model::Result> results, const report::SvgOptions& options, Output& output)
{
    std::vector<model::Summary> summaries;
    for (const model::Result& result : results) {
        if (result.find(model::Item::weights) != nullptr) {
            summaries.push_back(model::summarize(result, 1));
        }
    }
    report::write_svg(results, summaries, options, output.sink());
}

} // namespace attn::cli
