#include "cli/input/recipe_files.hpp"

#include "attn/io/json/recipe.hpp"
#include "attn/model/layer/checkpoint.hpp"
#include "attn/model/layer/float32_range.hpp"
#include "attn/model/layer/literal.hpp"
#include "attn/model/layer/mask.hpp"
#include "attn/model/layer/matrix_sides.hpp"
#include "attn/model/recipe/documents.hpp"
#include "attn/model/recipe/overrides.hpp"
#include "attn/tensor/error.hpp"
#include "cli/input/embeddings.hpp"
#include "cli/input/found_file.hpp"
#include "cli/input/named.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace attn::cli {
namespace {

FileSearch search_of(const LoadedFiles& files)
{
    return {files.folder, files.settings.origin};
}

void load_mask(model::FileTensor& mask, const LoadedFiles& files)
{
    refuse_standard_input(mask.file, model::field::mask_file, files.settings.origin);
    const std::string path = found_file(search_of(files), model::field::mask_file, mask.file, mask.sha256);
    files.settings.mask = files.inputs.open({path, mask.name}).view;
    files.settings.read_numbers = [&inputs = files.inputs](const NumberJudge& judge) { inputs.read_numbers(judge); };
    require_digest(files.inputs.file(path), mask.sha256, files.digests);
}

// ---- parameters ------------------------------------------------------------------------------------------------------

std::vector<model::StoredShape> shapes_in(const io::TensorFile& file)
{
    std::vector<model::StoredShape> shapes;
    for (const NamedTensor& entry : file.entries) {
        shapes.push_back({entry.name, entry.view.shape});
    }
    for (const io::TensorFile::Unsupported& each : file.unsupported) {
        shapes.push_back({each.name, {}});
    }
    return shapes;
}

/// Lays the matrices of which the sides are known in the order that is asked for, when that is `run` or none; then it is said.
void turn_matrices(io::TensorFile& tensors, model::MatrixSides sides, std::optional<model::MatrixLayout>& layout)
{
    using model::MatrixLayout;
    const auto entry_of = [&](model::Target matrix) {
        return std::ranges::find(tensors.entries, name_of(matrix), &NamedTensor::name);
    };
    std::erase_if(sides, [&](const auto& one) { return entry_of(one.first) == tensors.entries.end(); });
    if (sides.empty() || layout.value_or(MatrixLayout::run) != MatrixLayout::run) {
        return;
    }
    layout = layout ? layout : layout_of(sides);
    for (const auto& [matrix, side] : sides) {
        TensorView& view = entry_of(matrix)->view;
        if (side != side_in(*layout, matrix) && view.shape.size() > 1) {
            for (Shape* lengths : {&view.shape, &view.strides}) {
                std::swap(lengths->back(), *(lengths->end() - 2));
            }
        }
    }
}

std::optional<std::string> find_text(const io::TensorFile& tensors, std::string_view key)
{
    const auto found = std::ranges::find(tensors.metadata, key, &io::Metadata::value_type::first);
    return found == tensors.metadata.end() ? std::nullopt : std::optional(found->second);
}

/// What `run` saved says in its metadata how many heads there are and how the matrices lie; an .npz only the latter.
void take_hints(io::TensorFile& tensors, model::Recipe& recipe, const std::string& file)
{
    std::optional<model::MatrixLayout>& layout = recipe.parameters->layout;
    if (const auto right = find_text(tensors, model::right_matrices)) {
        return turn_matrices(tensors, model::sides_in_text(*right), layout);
    }
    if (find_text(tensors, model::key::schema) != name_of(model::Document::result)) {
        return;
    }
    const model::Recipe config = named(file + ": config in its metadata",
                                       [&] { return io::parse_config(find_text(tensors, model::key::config).value_or("")); });
    turn_matrices(tensors, model::sides_of(config), layout);
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
    log.detail(fmt::format("parameters {}: {}{}, {}, {} heads; {}", file, layer.family,
                           layer.prefix.empty() ? "" : ", layer " + in_quotes(layer.prefix), layout, *fitted.dims.heads,
                           model::describe(layer)));
}

std::optional<std::string> load_parameters(model::Recipe& recipe, const LoadedFiles& files)
{
    model::FileParameters& parameters = *recipe.parameters;
    refuse_standard_input(parameters.file, model::field::parameters_file, files.settings.origin);
    const std::string path = found_file(search_of(files), model::field::parameters_file, parameters.file, parameters.sha256);
    io::TensorFile& tensors = files.inputs.all(path);
    const MappedFile& file = files.inputs.file(path);
    require_digest(file, parameters.sha256, files.digests);
    take_hints(tensors, recipe, file.name());

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
    std::vector<const NamedTensor*> stored;
    for (const model::Source& source : fitted.layer.sources) {
        const NamedTensor& tensor = tensors.at(source.name, file.name());
        files.settings.parameters.push_back(model::stored_parameter(source, tensor.view));
        if (stored.empty() || stored.back() != &tensor) {
            stored.push_back(&tensor);
        }
    }
    const auto judge = [&](const Arriving* arriving) {
        for (const NamedTensor* tensor : stored) {
            const std::string what = fmt::format("{} of {}", in_quotes(tensor->name), file.name());
            if (!parameters.allow_nonfinite) {
                require_finite(tensor->view, what, false, "--set parameters.allow_nonfinite=true", arriving);
            }
            if (recipe.dtype == Dtype::float32) {
                model::require_float32_range(tensor->view, what, model::wider_run, arriving);
            }
            model::require_exact_integers(tensor->view, recipe.dtype, what, model::wider_run, arriving);
        }
    };
    read_numbers(stored, [&](const Arriving& arriving) { judge(&arriving); });
    judge(nullptr);
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
    load_embeddings(recipe, files);
    if (recipe.attention.mask) { // last: of what is opened here, its shape alone cannot be judged yet
        load_mask(*recipe.attention.mask, files);
    }
    return assumption;
}

std::optional<std::string> doubt_about_mask(const model::Recipe& recipe, const model::RunSettings& settings)
{
    if (const std::optional<StoredTensor> stated = model::stated_mask(recipe)) {
        return model::doubt_about(stated->view());
    }
    return settings.mask ? model::doubt_about(*settings.mask) : std::nullopt;
}

} // namespace attn::cli
