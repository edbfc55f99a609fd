#include "attn/io/models/model_files.hpp"

#include "attn/io/builtin.hpp"
#include "attn/io/json/model_config.hpp"
#include "attn/io/json/recipe.hpp"
#include "attn/io/json/tokenizer_file.hpp"
#include "attn/io/tensors/tensor_file.hpp"
#include "attn/tensor/error.hpp"
#include "attn/transformer/architectures/describe.hpp"

#include <algorithm>
#include <utility>

namespace attn::io {
namespace {

std::string_view text_of(const NamedBytes& file)
{
    return {reinterpret_cast<const char*>(file.bytes.data()),
            file.bytes.size()}; // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

/// Calls read(); an error of it names the file, which the library does not know.
template <typename Read>
auto read_named(const std::string& name, Read read)
{
    try {
        return read();
    } catch (const Error& error) {
        const std::string message = error.what();
        throw Error(error.kind(), message.starts_with(name) ? message : name + ": " + message);
    }
}

transformer::Weights weights_of(const std::vector<NamedBytes>& files, const std::vector<model::DrawnTensor>& drawn)
{
    transformer::Weights weights;
    for (const model::DrawnTensor& tensor : drawn) {
        weights.add(tensor.name, row_major_view(ElementType::float32, tensor.values.shape,
                                                std::as_bytes(std::span<const float>(tensor.values.values))));
    }
    for (const NamedBytes& file : files) {
        const TensorFile tensors = read_tensors(file.bytes, file.name);
        for (const TensorFile::Entry& entry : tensors.entries) {
            weights.add(entry.name, entry.view);
        }
        for (const TensorFile::Unsupported& entry : tensors.unsupported) {
            weights.add_unread(entry.name, entry.type);
        }
    }
    return weights;
}

} // namespace

model::Trained read_model(const ModelFiles& files, const std::vector<std::string>& ignored)
{
    transformer::Architecture architecture = read_named(files.config.name, [&] {
        return transformer::describe(transformer::Config(read_model_config(text_of(files.config), files.config.name), ignored));
    });
    std::optional<text::PieceTokenizer> tokenizer;
    if (files.tokenizer) {
        tokenizer = read_named(files.tokenizer->name, [&] {
            return text::PieceTokenizer(read_tokenizer(text_of(*files.tokenizer), files.tokenizer->name));
        });
    }
    std::vector<model::DrawnTensor> drawn;
    if (files.draws) {
        drawn = read_named(files.draws->name, [&] {
            return draw_weights(architecture, parse_model_draws(text_of(*files.draws), files.draws->name));
        });
    }
    const transformer::Weights weights = weights_of(files.weights, drawn);
    const std::string& where = files.draws             ? files.draws->name
                               : files.weights.empty() ? files.config.name
                                                       : files.weights.front().name;
    return read_named(where, [&] {
        return model::Trained(transformer::Model(std::move(architecture), weights), std::move(tokenizer), std::move(drawn));
    });
}

std::vector<std::string> listed_files(const NamedBytes& index)
{
    return files_of(read_weight_map(text_of(index), index.name));
}

std::optional<model::Trained> builtin_model(std::string_view name, const std::vector<std::string>& ignored)
{
    const auto found = std::ranges::find(builtin_models(), name, &BuiltinModel::name);
    if (found == builtin_models().end()) {
        return std::nullopt;
    }
    const std::string shown(name);
    ModelFiles files{.config = {shown, as_bytes(found->config)}, .tokenizer = {}, .weights = {}, .draws = {}};
    if (found->weights.empty()) {
        files.draws = NamedBytes{shown, as_bytes(found->draws)};
    } else {
        files.weights.push_back({shown, as_bytes(found->weights)});
    }
    return read_model(files, ignored);
}

} // namespace attn::io
