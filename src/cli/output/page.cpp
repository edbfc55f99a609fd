#include "cli/output/page.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/digest.hpp"
#include "attn/math/decimal.hpp"
#include "attn/model/explain/plotted.hpp"
#include "attn/model/run/resolved_run.hpp"
#include "attn/model/trained/resolved_trained.hpp"
#include "attn/report/text/introduction.hpp"
#include "attn/tensor/error.hpp"
#include "cli/options/picture_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace attn::cli {
namespace {

using model::Item;

constexpr Index many_weights = 100'000;
constexpr Index most_numbers = 5'000'000;   // of queries, keys or values
constexpr Index most_of_layers = 1'000'000; // of all of them, in all layers

void leave_out(model::Layer& layer, const model::Show& items)
{
    std::erase_if(layer.arrays, [&](const model::Array& array) { return items.contains(*model::item_called(array.name)); });
}

/// Of the stages that have one number for each query, the page has a step for the entropy alone.
model::Show without_step()
{
    model::Show items;
    for (const core::Stage stage : core::every_stage) {
        if (core::is_single(stage) && model::item_of(stage) != Item::entropy) {
            items.insert(model::item_of(stage));
        }
    }
    return items;
}

/// Of what is drawn of a run, (heads, rows, columns), but for a choice of heads.
Shape shape_of_weights(const model::ResolvedRun& run)
{
    return {run.dims.H, std::ssize(run.rows), run.dims.S + (run.has_extra_key() ? 1 : 0)};
}

/// And of the layers, of each.
std::vector<Shape> shapes_of_weights(const model::ResolvedTrained& run)
{
    const model::ResolvedPart& part = run.parts.front(); // a page or a picture has one
    std::vector<Shape> shapes;
    std::ranges::transform(part.layers, std::back_inserter(shapes),
                           [&](Index layer) { return shape_of(Item::weights, run, part, layer); });
    return shapes;
}

/// Of numbers that are no weights.
void require_shade(const model::Result& result, const report::ShadeOptions& shade)
{
    if ((!shade.shade && !shade.most) || !model::doubt_about(result, result.front())) {
        return;
    }
    if (shade.shade == report::Shade::log) {
        throw Error(ErrorKind::usage, "shade log is for weights, which these numbers are not");
    }
    const double least =
        std::visit([](const auto& numbers) { return static_cast<double>(*std::ranges::min_element(numbers.values)); },
                   *result.find(Item::weights));
    if (shade.most && *shade.most <= least) {
        throw Error(ErrorKind::usage, report::most_of_shade, math::shortest(*shade.most),
                    fmt::format("a number above {}, the least that is drawn", math::shortest(least)));
    }
}

} // namespace

model::Show page_items(const model::Recipe& recipe)
{
    return model::everything(recipe).without({Item::parameters, Item::embeddings, Item::key_embeddings});
}

void require_page(const model::ResolvedRun& run)
{
    const model::ModelDims& dims = run.dims;
    for (const auto& [item, shape] : {std::pair(Item::queries, Shape{dims.H, dims.T, dims.d_k}),
                                      {Item::keys, Shape{dims.H_kv, dims.S, dims.of_a_key()}},
                                      {Item::values, Shape{dims.H_kv, dims.S, dims.d_v}}}) {
        if (element_count(shape) > most_numbers) {
            throw Error(ErrorKind::too_large, "HTML", fmt::format("{} of {} numbers", name_of(item), element_count(shape)),
                        fmt::format("up to {} in a page; --d-k and --d-v make them smaller", most_numbers));
        }
    }
    report::require_page_size(shape_of_weights(run));
}

void require_page(const model::ResolvedTrained& run)
{
    const std::vector<Shape> shapes = shapes_of_weights(run);
    for (const Shape& shape : shapes) {
        report::require_page_size(shape, std::ssize(shapes));
    }
}

void require_picture(const model::ResolvedRun& run, const report::PlannedPicture& planned)
{
    Shape shape = shape_of_weights(run);
    if (const std::vector<Index>& heads = run.heads.queries; !heads.empty()) {
        shape.front() = std::ssize(heads);
    }
    report::require_picture_size(shape, planned);
}

void require_picture(const model::ResolvedTrained& run, report::PlannedPicture planned)
{
    const std::vector<Shape> shapes = shapes_of_weights(run);
    planned.layers = shapes.size() > 1;
    for (const Shape& shape : shapes) {
        report::require_picture_size(shape, planned);
    }
}

model::Show page_items(const model::TrainedConfig& config, const model::Trained& trained)
{
    model::Show items{Item::tokens, Item::key_tokens, Item::token_ids, Item::key_token_ids, Item::query_positions,
                      Item::heads,  Item::queries,    Item::keys,      Item::values,        Item::weights};
    model::Show given = model::everything(config, trained);
    given.insert({Item::query_positions, Item::heads});
    const transformer::Architecture& architecture = trained.model.architecture();
    const bool encodes = config.has(model::Part::encoder);
    if ((encodes ? *architecture.encoder : architecture).relative_bias) { // masks follow from the attention alone
        items.insert(Item::masked_scores);
    }
    return items.without(items.without(given));
}

void leave_out_stages(model::Result& result)
{
    for (model::Layer& layer : result.layers) {
        leave_out(layer, without_step());
        const AnyTensor* weights = layer.find(Item::weights);
        if (weights == nullptr || element_count(shape_of(*weights)) <= many_weights) {
            continue;
        }
        const model::Attention& attention = layer.config.attention;
        if (attention.multiplies()) { // otherwise scores do not follow from queries and keys alone
            leave_out(layer, {Item::scores});
        }
        leave_out(layer, {Item::scaled_scores, Item::capped_scores});
        const bool by_place = attention.causal || attention.window; // which follow from the config alone
        if (by_place && !attention.has_mask() && !attention.positions) {
            leave_out(layer, {Item::masked_scores});
        }
    }
}

void leave_out_vectors(model::Result& result)
{
    const model::Show steps{Item::queries, Item::keys, Item::values, Item::masked_scores};
    Index numbers = 0;
    for (const model::Layer& layer : result.layers) {
        for (const Item item : steps) {
            const AnyTensor* array = layer.find(item);
            numbers += array == nullptr ? 0 : element_count(shape_of(*array));
        }
    }
    if (numbers > most_of_layers) {
        std::ranges::for_each(result.layers, [&](model::Layer& layer) { leave_out(layer, steps); });
    }
}

void write_page(const model::Result& result, const report::PageOptions& options, Buffer& out)
{
    if (!result.model) {
        require_shade(result, options.shade);
    }
    report::PageOptions shown = options;
    shown.remark = report::remark_on_chance(result);
    const io::BuiltinPage page = io::builtin_page();
    const std::string style_hash = io::sha256_source(io::as_bytes(page.style));
    const std::string script_hash = io::sha256_source(io::as_bytes(page.script));
    report::write_html(result, {page.frame, page.style, page.script, style_hash, script_hash}, shown, out);
}

} // namespace attn::cli
