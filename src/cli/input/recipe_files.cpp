#include "cli/input/recipe_files.hpp"

#include "attn/io/json/recipe.hpp"
#include "attn/model/layer/checkpoint.hpp"
#include "attn/model/layer/float32_range.hpp"
#include "attn/model/layer/literal.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/embeddings.hpp"

#include <algorithm>

namespace attn::cli {
namespace {

void load_mask(model::FileTensor& mask, const LoadedFiles& files)
{
    refuse_standard_input(mask.file, "--mask");
    files.settings.mask = files.inputs.open({mask.file, mask.name});
    files.settings.read_numbers = [&inputs = files.inputs] { inputs.read_numbers(); };
    require_digest(files.inputs.file(mask.file), mask.sha256, files.digests);
}

// ---- parameters ------------------------------------------------------------------------------------------------------

std::vector<model::StoredShape> shapes_in(const io::TensorFile& file)
{
    std::vector<model::StoredShape> shapes;
    for (const io::TensorFile::Entry& entry : file.entries) {
        shapes.push_back({entry.name, entry.view.shape});
    }
    for (const io::TensorFile::Unsupported& each : file.unsupported) {
        shapes.push_back({each.name, {}});
    }
    return shapes;
}

std::optional<model::MatrixLayout> layout_of(const model::Recipe& config)
{
    if (config.parameters) {
        return config.parameters->layout;
    }
    std::optional<model::Side> inputs;
    std::optional<model::Side> output;
    for (const model::Step& step : config.draws) {
        if (const auto* draw = std::get_if<model::Draw>(&step)) {
            if (draw->target == model::Target::W_q) {
                inputs = draw->side.value_or(model::Side::left);
            } else if (draw->target == model::Target::W_o) {
                output = draw->side.value_or(model::Side::right);
            }
        }
    }
    if (inputs == output.value_or(inputs.value_or(model::Side::left))) {
        return inputs == model::Side::left ? model::MatrixLayout::out_in : model::MatrixLayout::in_out;
    }
    return inputs == model::Side::left ? std::optional(model::MatrixLayout::run) : std::nullopt;
}

/// What `run` saved says in its metadata how many heads there are and how the matrices lie.
void take_hints(const io::Metadata& metadata, model::Recipe& recipe, const std::string& file)
{
    const auto text = [&](std::string_view key) {
        const auto found = std::ranges::find(metadata, key, &io::Metadata::value_type::first);
        return found == metadata.end() ? std::string() : found->second;
    };
    if (text("schema") != "attn-cli/result/1") {
        return;
    }
    model::Recipe config;
    try {
        config = io::parse_recipe(text("config"));
    } catch (const Error& error) { // the library does not know whose it is
        throw Error(error.kind(), file + ": config in its metadata: " + error.what());
    }
    if (!recipe.parameters->layout) {
        recipe.parameters->layout = layout_of(config);
    }
    if (!recipe.dims.heads) {
        recipe.dims.heads = model::dims_of(config).heads.value_or(1);
    }
}

void tell(const model::FittedLayer& fitted, const std::string& file, Log& log)
{
    const model::CheckpointLayer& layer = fitted.layer;
    std::string layout = "(in, out) and (out, in)";
    if (fitted.layout) {
        layout = model::layout_names.at(static_cast<std::size_t>(*fitted.layout));
    }
    log.detail("parameters " + file + ": " + std::string(layer.family) +
               (layer.prefix.empty() ? "" : ", layer " + quoted(layer.prefix)) + ", " + layout + ", " +
               std::to_string(*fitted.dims.heads) + " heads; " + model::describe(layer));
}

std::optional<std::string> load_parameters(model::Recipe& recipe, const LoadedFiles& files)
{
    model::FileParameters& parameters = *recipe.parameters;
    refuse_standard_input(parameters.file, "--params");
    io::TensorFile& tensors = files.inputs.all(parameters.file);
    const MappedFile& file = files.inputs.file(parameters.file);
    require_digest(file, parameters.sha256, files.digests);
    take_hints(tensors.metadata, recipe, file.name());

    model::CheckpointLayer layer = model::find_layer(shapes_in(tensors), recipe, file.name());
    if (recipe.embeddings) { // a table of the layer's file gives way to the one that is named
        std::erase_if(layer.sources, [](const model::Source& source) {
            return source.target == model::Target::embedding || source.target == model::Target::embeddings ||
                   source.target == model::Target::key_embeddings;
        });
    }
    for (const model::Source& source : layer.sources) { // those of a type that we do not read have no shape here
        (void)tensors.at(source.name, file.name());
    }
    const model::FittedLayer fitted = model::fit(std::move(layer), recipe, file.name(), files.settings.origin);
    tell(fitted, file.name(), files.log);
    if (fitted.dims.vocab_size) {
        files.settings.origin = files.settings.origin.with_table_of(file.name());
    }
    std::string_view last;
    for (const model::Source& source : fitted.layer.sources) {
        tensors.read_numbers(source.name);
        const TensorView& whole = tensors.at(source.name, file.name());
        files.settings.parameters.push_back(model::stored_parameter(source, whole));
        if (source.name != last) {
            const std::string what = quoted(source.name) + " of " + file.name();
            if (!parameters.allow_nonfinite) {
                require_finite(whole, what);
            }
            if (recipe.dtype == Dtype::float32) {
                model::require_float32_range(whole, what);
            }
        }
        last = source.name;
    }
    recipe = model::with_layer(std::move(recipe), fitted);
    if (!fitted.heads_assumed) {
        return std::nullopt;
    }
    return file.name() + " does not state the number of heads; 1 is assumed; --heads sets it";
}

} // namespace

std::optional<std::string> load_files(model::Recipe& recipe, const LoadedFiles& files)
{
    files.settings.mask.reset();
    files.settings.read_numbers = {};
    files.settings.parameters.clear();
    files.settings.origin = files.settings.origin.with_table_of({});
    std::optional<std::string> assumption = recipe.parameters ? load_parameters(recipe, files) : std::nullopt;
    load_embeddings(recipe, files.inputs, files.settings, files.digests);
    if (recipe.attention.mask) { // last: of what is opened here, its shape alone cannot be judged yet
        load_mask(*recipe.attention.mask, files);
    }
    return assumption;
}

} // namespace attn::cli
