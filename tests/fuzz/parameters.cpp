// Arbitrary bytes as the .safetensors of a layer: refused in one line that blames the data or the dimensions asked for, or run.
#include "attn/io/tensors/safetensors.hpp"
#include "attn/model/layer/checkpoint.hpp"
#include "attn/model/run/run.hpp"
#include "attn/tensor/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace attn::model;

void load_and_run(const attn::io::TensorFile& file, Recipe recipe)
{
    std::vector<StoredShape> shapes;
    for (const attn::NamedTensor& entry : file.entries) {
        shapes.push_back({entry.name, entry.view.shape});
    }
    for (const auto& each : file.unsupported) {
        shapes.push_back({each.name, {}});
    }
    const FittedLayer fitted = fit(find_layer(shapes, recipe, "file"), recipe, "file", Origin());
    RunSettings settings;
    settings.memory_limit = attn::Index{1} << 24U;
    for (const Source& source : fitted.layer.sources) {
        settings.parameters.push_back(stored_parameter(source, file.at(source.name, "file").view));
    }
    const Result result = run(with_layer(recipe, fitted), settings);
    if (result.find("weights") == nullptr || describe(fitted.layer).empty()) {
        std::abort();
    }
}

void must_run_or_refuse(attn::io::Bytes bytes, const Recipe& recipe)
{
    try {
        load_and_run(attn::io::read_safetensors(bytes, "file", {}), recipe);
    } catch (const attn::Error& error) {
        const std::string_view message = error.what();
        const bool ours = error.kind() == attn::ErrorKind::internal;
        if (ours || message.empty() || message.find('\n') != std::string_view::npos) {
            std::abort();
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const attn::io::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
    Recipe recipe;
    recipe.input = SentenceInput{.sentence = "a b a", .cross = {}};
    recipe.draws = {Seed{1}, Draw{.target = Target::embedding, .init = Initialisation::normal}};
    recipe.parameters = FileParameters{.file = "file"};
    must_run_or_refuse(bytes, recipe);
    recipe.dims.heads = 2;
    recipe.parameters->layout = MatrixLayout::in_out;
    recipe.attention.causal = true;
    recipe.attention.positions = Positions{.kind = PositionKind::rope};
    must_run_or_refuse(bytes, recipe);
    recipe.parameters->layout = MatrixLayout::out_in;
    recipe.parameters->prefix = "h";
    must_run_or_refuse(bytes, recipe);
    return 0;
}
