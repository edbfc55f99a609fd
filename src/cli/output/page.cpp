#include "cli/output/page.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/sha256.hpp"
#include "attn/report/html/html.hpp"
#include "attn/tensor/error.hpp"

#include <utility>

namespace attn::cli {
namespace {

using model::Item;

constexpr Index many_weights = 100'000;
constexpr Index most_numbers = 5'000'000; // of queries, keys or values

} // namespace

model::Show page_items(const model::Recipe& recipe)
{
    return model::everything(recipe).without({Item::parameters, Item::embeddings, Item::key_embeddings});
}

model::Observer page_observer(model::Observer otherwise)
{
    return [otherwise = std::move(otherwise)](const model::Progress& progress) {
        if (progress.stage == "attention") {
            report::require_page_size(progress.shape);
        }
        const bool vectors = progress.stage == name_of(Item::queries) || progress.stage == name_of(Item::keys) ||
                             progress.stage == name_of(Item::values);
        if (vectors && element_count(progress.shape) > most_numbers) {
            throw Error(ErrorKind::too_large, "HTML",
                        std::string(progress.stage) + " of " + std::to_string(element_count(progress.shape)) + " numbers",
                        "up to " + std::to_string(most_numbers) + " in a page; --d-k and --d-v make them smaller");
        }
        if (otherwise) {
            otherwise(progress);
        }
    };
}

void leave_out_stages(model::Result& result)
{
    const AnyTensor* weights = result.find(Item::weights);
    if (weights == nullptr || element_count(shape_of(*weights)) <= many_weights) {
        return;
    }
    const model::Attention& attention = result.config.attention;
    if (attention.multiplies()) { // otherwise scores do not follow from queries and keys alone
        result.show = result.show.without({Item::scores});
    }
    result.show = result.show.without({Item::scaled_scores, Item::capped_scores});
    if (!attention.has_mask() && !attention.positions) { // causal and window follow from the config alone
        result.show = result.show.without({Item::masked_scores});
    }
}

void write_page(const model::Result& result, Output& output)
{
    const io::BuiltinPage page = io::builtin_page();
    const std::string style_hash = io::sha256_source(io::as_bytes(page.style));
    const std::string script_hash = io::sha256_source(io::as_bytes(page.script));
    report::write_html(result, {page.frame, page.style, page.script, style_hash, script_hash}, output.sink());
}

} // namespace attn::cli
